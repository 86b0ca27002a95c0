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
import type { OperationId } from '../../../src/contract/operations.ts';
import { type Circumstances, decide } from '../../../src/engine/act/decide.ts';
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

  test('an ended target is stored with its outcome, and keeps only the fields that are shown to people', () => {
    const active = { ...acting, intent, watch, deadline: 9 };
    const { target } = decide(active, { is: 'done', reason: 'done' }, circumstances);
    expect(target).toEqual({
      ...{ id: 'a', label: 'A', state: 'ended', fence: 2, attempts: 0, waits: 0, startedAt: 1 },
      ...{ outcome: 'succeeded', reason: 'done', finishedAt: now },
    });
  });

  test('work that has started is followed: the intent stores its result', () => {
    const { target } = decide({ ...acting, intent }, { is: 'following', watch }, circumstances);
    expect(target).toMatchObject({ state: 'following', watch });
    expect(target.intent).toBeUndefined();
  });

  test('the wait after a conflict grows each time unless it is fixed, and a conflict uses up no attempt', () => {
    const conflict = { is: 'waiting', reason: 'conflict' } as const;
    const first = decide(acting, conflict, circumstances);
    const second = decide(again(first.target), conflict, circumstances);
    const third = decide(again(second.target), conflict, circumstances);
    const dueAfter = [first, second, third].map(({ dueAt = 0 }) => dueAt - now);
    expect(dueAfter).toEqual([30_000, 60_000, 100_000]);
    const fixed = { ...circumstances, retry: { ...retry, backoff: 'fixed' as const } };
    expect(decide(again(second.target), conflict, fixed).dueAt).toBe(first.dueAt);
    expect(third.target).toMatchObject({ state: 'waiting', reason: 'conflict', attempts: 0, waits: 3 });
  });

  test.each([
    ['cancelled', 'run-cancelled'],
    ['safety-limit', 'safety-limit'],
  ] as const)('a target of a run that ends as %s ends as %s', (ending, reason) => {
    const { target } = decide(acting, { is: 'run-cancelled', ending }, circumstances);
    expect(target).toMatchObject({ outcome: 'cancelled', reason });
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
    [
      '400 and 422 end the target',
      new RejectedError('syncSite', 422, { message: 'No.' }),
      { state: 'ended', outcome: 'failed', reason: 'rejected', detail: 'No.' },
    ],
    [
      '404 ends the target',
      new GoneError('syncSite'),
      { state: 'ended', outcome: 'skipped', reason: 'gone' },
    ],
    [
      '409 makes the target wait',
      new ConflictError('syncSite', { message: 'Busy.' }),
      { state: 'waiting', reason: 'conflict', detail: 'Busy.' },
    ],
  ])('%s', (_, error, expected) => {
    expect(failing(error).target).toMatchObject(expected);
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
  const follows = (of: Target['watch']) => aTarget('a', { state: 'following', watch: of });
  const task = { kind: 'task', label: 'The task task-7', since: 1 } as Target['watch'];
  const under = (operation: OperationId) => {
    const error = new UnavailableError(operation, true, 'HTTP 500', { status: 500 });
    return decide({ ...acting, intent }, { error }, circumstances).target;
  };
  const conflict = { reason: 'conflict' } as const;

  test.each<[string, Target, boolean, object]>([
    ['that was followed ends with timeout', follows(watch), true, { outcome: 'failed', reason: 'timeout' }],
    [
      'is recorded with the task that was still under way',
      follows(task),
      true,
      { reason: 'timeout', detail: 'The task task-7 was still under way.' },
    ],
    [
      'is recorded with the task that showed nothing',
      follows(task),
      false,
      { reason: 'unconfirmed', detail: 'The task task-7 did not show whether it had ended.' },
    ],
    [
      'whose answer was lost ends with unknown-effect, which names the operation',
      { ...acting, intent },
      false,
      { reason: 'unknown-effect', detail: 'The answer to syncSite was lost.' },
    ],
    [
      'whose answer was lost names the last failure too',
      { ...acting, intent, detail: 'HTTP 503.' },
      false,
      { detail: 'The answer to syncSite was lost. HTTP 503.' },
    ],
    [
      'whose request was answered with HTTP 500 says that, and not that the answer was lost',
      under('syncSite'),
      false,
      {
        detail: expect.stringMatching(
          /^The service answered syncSite with HTTP 500, which does not show whether it was done\./,
        ),
      },
    ],
    [
      'whose later look was answered with HTTP 500 says that the answer was lost',
      under('showSite'),
      false,
      { detail: expect.stringMatching(/^The answer to syncSite was lost\./) },
    ],
    [
      'that waits for a conflict to end ends with it',
      aTarget('a', { state: 'waiting', ...conflict }),
      false,
      conflict,
    ],
    [
      'that acts after a conflict ends with it',
      aTarget('a', { state: 'acting', ...conflict }),
      false,
      conflict,
    ],
  ])('%s', (_, target, wasSeen, expected) => {
    expect(timedOut(target, now, wasSeen)).toMatchObject(expected);
  });
});
