import { describe, expect, test } from 'vitest';
import { BudgetSpentError } from '../../../src/budget/budget.ts';
import {
  AccountRefusedError,
  ConflictError,
  GoneError,
  RedirectedError,
  RejectedError,
  UnavailableError,
} from '../../../src/client/errors.ts';
import { type Circumstances, decide, ended } from '../../../src/engine/act/decide.ts';
import { timedOut } from '../../../src/engine/supervise/end-run.ts';
import type { Target, TargetIn } from '../../../src/run/run.ts';
import { aTarget } from '../../support/builders.ts';

const now = 1_000_000;
const retry = { attempts: 3, backoff: 'exponential', delayMs: 30_000, maxDelayMs: 100_000 } as const;
const circumstances: Circumstances = { now, retry, countsAsAttempt: true };
const acting: TargetIn<'acting'> = {
  id: 'a',
  label: 'A',
  state: 'acting',
  fence: 2,
  claimed: true,
  attempts: 0,
  waits: 0,
  startedAt: 1,
};
/** The same target, dispatched again. */
const again = (target: Target) =>
  aTarget(target.id, { ...target, state: 'acting' } as never) as TargetIn<'acting'>;
const intent = { operation: 'syncSite', at: now - 5_000 };
const watch = { kind: 'sync', siteId: 'a', snapshotId: 's1', since: now } as const;
const failing = (error: unknown, target = acting, changes: Partial<Circumstances> = {}) =>
  decide(target, { error }, { ...circumstances, ...changes });

describe('what a job returns', () => {
  test('is recorded with at most 100 findings of 300 characters, and without secrets', () => {
    const finding = (message: string) => ({ severity: 'info' as const, about: 'log', message });
    const { target } = decide(
      acting,
      {
        is: 'done',
        reason: 'done',
        findings: [finding('password=hunter2'), finding('x'.repeat(400)), ...Array(150).fill(finding('ok'))],
      },
      circumstances,
    );

    const { findings = [] } = target as TargetIn<'ended'>;
    expect(findings[0]).toEqual(finding('password=[hidden]'));
    expect(findings[1]?.message).toBe(`${'x'.repeat(300)}…`);
    expect(findings).toHaveLength(101);
    expect(findings.at(-1)?.message).toBe('52 more findings were not kept.');
  });

  test('an ended target is stored with its outcome, and fields that only active targets need are removed', () => {
    const { target } = decide(
      { ...acting, intent, deadline: 9 },
      { is: 'done', reason: 'done' },
      circumstances,
    );
    expect(target).toEqual({
      id: 'a',
      label: 'A',
      state: 'ended',
      fence: 2,
      attempts: 0,
      waits: 0,
      startedAt: 1,
      outcome: 'succeeded',
      reason: 'done',
      finishedAt: now,
    });
  });

  test('work that has started is followed: the intent stores its result', () => {
    const { target } = decide({ ...acting, intent }, { is: 'following', watch }, circumstances);
    expect(target).toMatchObject({ state: 'following', watch });
    expect(target.intent).toBeUndefined();
  });

  test('the wait after a conflict grows each time unless it is fixed, and a conflict uses up no attempt', () => {
    const first = decide(acting, { is: 'waiting', reason: 'conflict' }, circumstances);
    const second = decide(again(first.target), { is: 'waiting', reason: 'conflict' }, circumstances);
    const third = decide(again(second.target), { is: 'waiting', reason: 'conflict' }, circumstances);
    expect([first, second, third].map(({ dueAt }) => dueAt)).toEqual([
      now + 30_000,
      now + 60_000,
      now + 100_000,
    ]);
    const fixed = { ...circumstances, retry: { ...retry, backoff: 'fixed' as const } };
    expect(decide(again(second.target), { is: 'waiting', reason: 'conflict' }, fixed).dueAt).toBe(
      first.dueAt,
    );
    expect(third.target).toMatchObject({ state: 'waiting', reason: 'conflict', attempts: 0, waits: 3 });
  });

  test('a target of a cancelled run ends with the outcome that the run gives it', () => {
    expect(decide(acting, { is: 'run-cancelled', ending: 'cancelled' }, circumstances).target).toMatchObject({
      outcome: 'cancelled',
      reason: 'run-cancelled',
    });
    expect(
      decide(acting, { is: 'run-cancelled', ending: 'safety-limit' }, circumstances).target,
    ).toMatchObject({
      outcome: 'cancelled',
      reason: 'safety-limit',
    });
  });

  test('an effect that cannot be ruled out yet keeps its intent until it can be', () => {
    const { target, dueAt } = decide(
      { ...acting, intent },
      { is: 'too-early', at: now + 40_000 },
      circumstances,
    );
    expect(target).toMatchObject({ state: 'waiting', intent });
    expect(dueAt).toBe(now + 40_000);
  });
});

describe('what the service responds', () => {
  test.each([
    ['400 and 422', new RejectedError('syncSite', 422, { message: 'No.' }), 'failed', 'rejected', 'No.'],
    ['404', new GoneError('syncSite'), 'skipped', 'gone', undefined],
  ])('%s ends the target', (_, error, outcome, reason, detail) => {
    expect(failing(error).target).toMatchObject({
      state: 'ended',
      outcome,
      reason,
      ...(detail ? { detail } : {}),
    });
  });

  test.each([
    ['without a list', undefined, 'failed'],
    ['with another text', ['is paused'], 'failed'],
    ['with a part of its message, in any case', ['is paused', 'backups PLAN'], 'skipped'],
  ])('a rejection that the policy accepts is skipped: %s', (_, acceptRejections, outcome) => {
    const detail = 'The site has no Backups plan.';
    const accepting = { ...circumstances, acceptRejections };
    const error = new RejectedError('enableSiteBackups', 422, { message: detail });
    const answer = (reason: string) => ({ is: 'failed', reason, detail }) as const;

    const expected = { state: 'ended', outcome, reason: 'rejected', detail };
    expect(decide(acting, { error }, accepting).target).toMatchObject(expected);
    expect(decide(acting, answer('rejected'), accepting).target).toMatchObject(expected);
    // Nothing else is a rejection: what became of a lost request stays unknown, a failed task stays failed.
    expect(decide({ ...acting, intent }, { error }, accepting).target).toMatchObject({
      outcome: 'failed',
      reason: 'unknown-effect',
    });
    expect(decide(acting, answer('task-failed'), accepting).target).toMatchObject({ outcome: 'failed' });
  });

  test('an exhausted budget waits for the next window and uses up no attempt', () => {
    const { target, dueAt } = failing(new BudgetSpentError('default', now + 20_000));
    expect(target).toMatchObject({ state: 'waiting', attempts: 0, waits: 0 });
    expect(dueAt).toBe(now + 20_000);
  });

  test('a refused account blocks the run; the target waits and uses up no attempt', () => {
    const error = new AccountRefusedError('default', 401);
    const decision = failing(error);
    expect(decision).toMatchObject({ refused: error, target: { state: 'waiting', attempts: 0 } });
  });

  test('409 makes the target wait', () => {
    expect(failing(new ConflictError('syncSite', { message: 'Busy.' })).target).toMatchObject({
      state: 'waiting',
      reason: 'conflict',
      detail: 'Busy.',
    });
  });
});

describe('no usable response', () => {
  const lost = new UnavailableError('syncSite', true, 'the connection was cut');
  const neverSent = new UnavailableError('syncSite', false, 'nothing listens there');

  test('a request that was never sent is retried soon, and uses up no attempt however often', () => {
    const { target, dueAt } = failing(neverSent);
    expect(target).toMatchObject({ state: 'waiting', attempts: 0 });
    expect(dueAt).toBe(now + 5_000);
    expect(failing(neverSent, { ...acting, waits: 10 }).dueAt).toBe(now + 60_000);
  });

  test('a request that may have arrived keeps its intent and uses up an attempt', () => {
    expect(failing(lost, { ...acting, intent }).target).toMatchObject({
      state: 'waiting',
      intent,
      attempts: 1,
    });
  });

  test('during an outage it uses up no attempt, not even the last one, and is retried within a minute', () => {
    const outage = { countsAsAttempt: false };
    expect(failing(lost, { ...acting, intent, waits: 10 }, outage).dueAt).toBe(now + 60_000);
    expect(failing(lost, { ...acting, intent }, outage).target).toMatchObject({
      state: 'waiting',
      attempts: 0,
    });
    expect(failing(lost, { ...acting, attempts: 2 }, outage).target).toMatchObject({
      state: 'waiting',
      attempts: 2,
    });
  });

  test('a redirect that is not followed is no response: the intent stays, and an attempt is used up', () => {
    const where = { account: 'default', baseUrl: 'http://localhost/api/v6' };
    const redirected = new RedirectedError('syncSite', where, undefined, { status: 302 });
    expect(failing(redirected, { ...acting, intent }).target).toMatchObject({
      state: 'waiting',
      intent,
      attempts: 1,
      detail: expect.stringContaining('redirect'),
    });
    expect(failing(redirected, { ...acting, attempts: 2 }).target).toMatchObject({
      outcome: 'failed',
      reason: 'unavailable',
      detail: expect.stringContaining('check accounts.default.base_url'),
    });
  });

  test('the last attempt ends the target, unless an effect may have happened: then it is reconciled first', () => {
    const tried = { ...acting, attempts: 2 };
    expect(failing(lost, tried).target).toMatchObject({
      outcome: 'failed',
      reason: 'unavailable',
      attempts: 3,
    });
    expect(failing(lost, { ...tried, intent }).target).toMatchObject({ state: 'waiting', intent });
  });

  test('a reconcile that is refused ends the target as unknown, with the refusal in its message', () => {
    const refused = failing(new RejectedError('showSite', 422, { message: 'No.' }), { ...acting, intent });
    expect(refused.target).toMatchObject({ outcome: 'failed', reason: 'unknown-effect' });
  });

  test('a Redis that refuses writes lets the target wait, with and without an open request', () => {
    const full = new Error('OOM command not allowed when used memory > maxmemory.');
    for (const target of [acting, { ...acting, intent }])
      expect(failing(full, target)).toMatchObject({
        target: { state: 'waiting', attempts: target.attempts },
      });
  });

  test('an unexpected error ends the target as internal and is logged', () => {
    const bug = new TypeError('x is not a function');
    expect(failing(bug)).toMatchObject({
      unexpected: bug,
      target: { outcome: 'failed', reason: 'internal' },
    });
    // An effect that may have happened is reconciled first.
    expect(failing(bug, { ...acting, intent })).toMatchObject({
      unexpected: bug,
      target: { state: 'waiting', intent },
    });
  });
});

describe('a target over its time limit', () => {
  test('that was followed ends with timeout', () => {
    expect(timedOut(aTarget('a', { state: 'following', watch }), now, true)).toMatchObject({
      outcome: 'failed',
      reason: 'timeout',
    });
  });
  test('is recorded with the task that it waited for', () => {
    const task = { kind: 'task', label: 'The task task-7', since: 1 };
    expect(timedOut(aTarget('a', { state: 'following', watch: task }), now)).toMatchObject({
      reason: 'unconfirmed',
      detail: 'The task task-7 did not show whether it had ended.',
    });
    expect(timedOut(aTarget('a', { state: 'following', watch: task }), now, true)).toMatchObject({
      reason: 'timeout',
      detail: 'The task task-7 was still under way.',
    });
  });
  test('whose answer was lost ends with unknown-effect, which names the operation', () => {
    expect(timedOut({ ...acting, intent }, now)).toMatchObject({
      reason: 'unknown-effect',
      detail: 'The answer to syncSite was lost.',
    });
    expect(timedOut({ ...acting, intent, detail: 'HTTP 503.' }, now).detail).toBe(
      'The answer to syncSite was lost. HTTP 503.',
    );
  });
  test('whose request was answered with HTTP 500 says that, and not that the answer was lost', () => {
    const error = new UnavailableError('syncSite', true, 'HTTP 500', { status: 500 });
    const { target } = decide({ ...acting, intent }, { error }, circumstances);
    expect(timedOut(target, now).detail).toMatch(
      /^The service answered syncSite with HTTP 500, which does not show whether it was done\./,
    );
    const read = new UnavailableError('showSite', true, 'HTTP 500', { status: 500 });
    const reconciling = decide({ ...acting, intent }, { error: read }, circumstances);
    expect(timedOut(reconciling.target, now).detail).toMatch(/^The answer to syncSite was lost\./);
  });
  test.each(['waiting', 'acting'] as const)('whose conflict never ended ends with conflict (%s)', (state) => {
    expect(timedOut(aTarget('a', { state, reason: 'conflict' }), now).reason).toBe('conflict');
  });
  test('an ended record keeps only the fields that are shown to people', () => {
    const record = ended({ ...acting, intent, watch, deadline: 3 }, 'failed', 'timeout', undefined, now);
    expect(Object.keys(record).sort()).toEqual(
      [
        'attempts',
        'fence',
        'finishedAt',
        'id',
        'label',
        'outcome',
        'reason',
        'startedAt',
        'state',
        'waits',
      ].sort(),
    );
  });
});
