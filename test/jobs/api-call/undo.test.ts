/** api-call with `undoable` and `undo_of`: a policy reverses only what another policy really changed. */
import { expect, test } from 'vitest';
import { apiCall } from '../../../jobs/api-call/job.ts';
import { ConflictError } from '../../../src/client/errors.ts';
import type { Policy } from '../../../src/policy/policy.ts';
import { around } from '../../support/between.ts';
import { aPolicy } from '../../support/builders.ts';
import type { World } from '../../support/caretaker.ts';
import { worldOfTest } from '../../support/world-of-test.ts';
import { asPerson, targetsAfter } from '../acting.ts';
import { mistakesOf } from '../policies.ts';

let world: World;

async function start(sites: number): Promise<void> {
  world = await worldOfTest({ sites });
}

const calling = (name: string, options: object, changes: Partial<Policy> = {}) =>
  aPolicy({
    name,
    job: 'api-call',
    select: { from: 'listSites', filters: {} },
    options: apiCall.options.parse(options),
    ...changes,
  });
const disable = { operation: 'disableSiteActivityLogs', confirm: 'disableSiteActivityLogs' };
const quiet = (changes?: Partial<Policy>) => calling('quiet', { ...disable, undoable: true }, changes);
const back = calling('back', { operation: 'enableSiteActivityLogs', undo_of: 'quiet' });

const runOf = (policy: Policy) => targetsAfter(world, policy);
const call = asPerson(() => world);
const isOn = async (site_id: string) => (await call('showSite', { site_id })).site.activity_logs?.enabled;
/** The time that the sandbox takes for a change. */
const CHANGE_MS = 10_000;
/** Somebody else sets it, as soon as the service has finished the change before. */
async function set(site_id: string, on: boolean): Promise<void> {
  const operation = on ? 'enableSiteActivityLogs' : 'disableSiteActivityLogs';
  for (;;) {
    try {
      await call(operation, { site_id });
      return;
    } catch (error) {
      if (!(error instanceof ConflictError)) throw error;
      await world.clock.sleep(5_000);
    }
  }
}

test('only what the policy changed itself is reversed, and only once', async () => {
  await start(3);
  await set('site-0001', true);
  await set('site-0002', true);
  await set('site-0003', false);

  const before = await runOf(quiet());
  const first = await runOf(back);
  const second = await runOf(back);

  expect(before['site-0001']).toMatchObject({ reason: 'done' });
  expect(before['site-0003']).toMatchObject({
    outcome: 'succeeded',
    reason: 'already-done',
    detail: 'It was so before the call.',
  });
  expect(first['site-0001']).toMatchObject({ outcome: 'succeeded', reason: 'done' });
  expect(first['site-0003']).toMatchObject({
    outcome: 'skipped',
    reason: 'not-eligible',
    detail: 'The records do not show that the policy quiet changed it.',
  });
  expect(await Promise.all(['site-0001', 'site-0002', 'site-0003'].map(isOn))).toEqual([true, true, false]);
  expect(second['site-0001']?.detail).toMatch(
    /^The change by the policy quiet was reversed by the run back\./,
  );

  // What the policy changes again is reversed again.
  expect((await runOf(quiet()))['site-0001']).toMatchObject({ reason: 'done' });
  expect((await runOf(back))['site-0001']).toMatchObject({ reason: 'done' });
});

test('what somebody has changed since, or whose state is not shown, is left alone', async () => {
  await start(1);
  await set('site-0001', true);
  await runOf(quiet());
  await set('site-0001', true);

  const changed = (await runOf(back))['site-0001'];
  await runOf(quiet());
  world.sandbox.hide('showSite', 'activity_logs');
  const hidden = (await runOf(back))['site-0001'];

  expect(changed).toMatchObject({ reason: 'already-done', detail: 'It was reversed already.' });
  expect(hidden).toMatchObject({
    reason: 'not-eligible',
    detail: 'The service does not show its present state.',
  });
});

test('a change whose answer was lost counts as changed when the service shows it, and is not sent again', async () => {
  await start(1);
  await set('site-0001', true);
  // Until then the service refuses another change of the site, and the lost answer would be the refusal.
  await world.clock.sleep(CHANGE_MS);
  world.sandbox.failNext({ operation: 'disableSiteActivityLogs' }, 'reset-after');
  world.sandbox.failNext({ operation: 'enableSiteActivityLogs' }, 'reset-after');

  expect((await runOf(quiet()))['site-0001']).toMatchObject({ reason: 'done' });
  await world.clock.sleep(CHANGE_MS);
  expect((await runOf(back))['site-0001']).toMatchObject({ reason: 'done' });
  expect(await isOn('site-0001')).toBe(true);
  const { journal } = world.sandbox;
  expect(journal.countOf('disableSiteActivityLogs')).toBe(1);
  // One more was sent by somebody else, before.
  expect(journal.countOf('enableSiteActivityLogs')).toBe(2);
});

test('a change that the service never confirmed is not reversed', async () => {
  await start(1);
  await set('site-0001', true);
  world.sandbox.failNext({ operation: 'disableSiteActivityLogs', times: 20 }, 'reset-after');
  // Nor does it show the state after the request.
  let show = () => {};
  around(world.caretaker.link('default').client, 'call', async (send, asked) => {
    if (asked === 'disableSiteActivityLogs') show = world.sandbox.hide('showSite', 'activity_logs');
    return send();
  });
  const retry = { attempts: 1, backoff: 'fixed', delayMs: 5_000, maxDelayMs: 5_000 } as const;
  const lost = (await runOf(quiet({ retry })))['site-0001'];
  show();

  const end = (await runOf(back))['site-0001'];

  expect(lost).toMatchObject({ outcome: 'failed', reason: 'unknown-effect' });
  expect(end).toMatchObject({
    reason: 'not-eligible',
    detail: expect.stringMatching(
      /^It is not known whether the run quiet\..* of the policy quiet changed it\.$/,
    ),
  });
  expect(world.sandbox.journal.effectsOf('enableSiteActivityLogs')).toHaveLength(1);
});

test.each([
  [
    '{ operation: syncSite, undoable: true }',
    / "undoable" does not apply to syncSite, only to enableSiteActivityLogs and disableSiteActivityLogs, /,
  ],
  [
    '{ operation: enableSiteActivityLogs, undoable: true, undo_of: quiet }',
    / "undo_of" cannot be used together with "undoable"\./,
  ],
])('%s is refused when its policy is loaded', (call, message) => {
  expect(mistakesOf(apiCall, '{ from: listSites }', call)).toEqual([expect.stringMatching(message)]);
});
