/** api-call with `once`: a call is made at most once for each target and key, in whichever run. */
import { expect, test } from 'vitest';
import { apiCall } from '../../../jobs/api-call/job.ts';
import { claimCall, compileKey, keyFor } from '../../../jobs/api-call/once.ts';
import type { Holder, Once } from '../../../src/job/job.ts';
import { sourceOf } from '../../../src/job/source.ts';
import type { Target } from '../../../src/run/run.ts';
import { aPolicy } from '../../support/builders.ts';
import type { World, WorldOptions } from '../../support/caretaker.ts';
import { worldOfTest } from '../../support/world-of-test.ts';
import { mistakesOf } from '../policies.ts';

let world: World;

async function start(options: WorldOptions): Promise<void> {
  world = await worldOfTest(options);
}

const noteOnce = (once: string, name = 'notes') =>
  aPolicy({
    name,
    job: 'api-call',
    select: { from: 'listSites', filters: {} },
    options: { operation: 'createSiteNote', body: { note: { content: 'Maintenance begins.' } }, once },
  });

const fireToEnd = async (policy = noteOnce('welcome')): Promise<Target[]> =>
  world.targets(await world.ended(await world.fire(policy)));
const notes = () => world.sandbox.journal.effectsOf('createSiteNote');
const reasonsOf = (targets: readonly Target[]) => targets.map(({ reason }) => reason);

test('a second run, also of another policy, makes no call again and names the run that made it', async () => {
  await start({ sites: 3 });

  const first = await world.ended(await world.fire(noteOnce('welcome')));
  const second = await fireToEnd(noteOnce('welcome', 'other-notes'));

  expect(reasonsOf(await world.targets(first))).toEqual(['done', 'done', 'done']);
  expect(second[0]).toMatchObject({
    outcome: 'succeeded',
    reason: 'already-done',
    detail: `The run ${first.id} made this call (once: welcome).`,
  });
  expect(notes()).toHaveLength(3);

  // Another key makes it again.
  await fireToEnd(noteOnce('{{run.policy}} {{site.url}}', 'monday'));
  await fireToEnd(noteOnce('{{run.policy}} {{site.url}}', 'tuesday'));
  expect(notes()).toHaveLength(9);
  await fireToEnd(noteOnce('{{run.policy}} {{site.url}}', 'monday'));
  expect(notes()).toHaveLength(9);
});

test('of runs at the same time, one makes the call for each target', async () => {
  await start({ sites: 4 });

  const policies = ['a', 'b', 'c'].map((name) => noteOnce('welcome', name));
  const runs = await Promise.all(policies.map((policy) => world.fire(policy)));
  const ends = await Promise.all(runs.map((run) => world.ended(run)));

  expect(ends.map(({ status }) => status)).toEqual(['succeeded', 'succeeded', 'succeeded']);
  expect(notes()).toHaveLength(4);
});

const sites = sourceOf(apiCall, { from: 'listSites' });

test('the date in a key is the day of the scheduled time in the time zone of the policy', () => {
  const key = compileKey('{{run.policy}}-{{run.date}}', sites);
  const at = Date.parse('2026-11-21T23:30:00Z');
  const keyIn = (timezone: string) => keyFor(key, {}, { policy: 'notes', at, timezone }, new Date(at));

  expect(keyIn('UTC')).toBe('notes-2026-11-21');
  expect(keyIn('Europe/Berlin')).toBe('notes-2026-11-22');
});

test.each([
  ['{{site.url}}', 'x'.repeat(201), /has 201 characters, and 200 are allowed/],
  ['{{site.url}}', ' ', /is empty/],
])('a target whose key %s would be invalid is not called', (template, name, message) => {
  const key = compileKey(template, sites);
  const at = 0;
  const site = { url: name };

  expect(() => keyFor(key, { site }, { policy: 'p', at, timezone: 'UTC' }, new Date(at))).toThrow(message);
});

test('a call whose answer was lost counts as made; one that the service rejected is made by the next run', async () => {
  await start({ sites: 1, speedUp: 20 });
  world.sandbox.failNext({ operation: 'createSiteNote' }, 'reset-after');

  expect(reasonsOf(await fireToEnd())).toEqual(['done']);
  expect(reasonsOf(await fireToEnd())).toEqual(['already-done']);
  expect(notes()).toHaveLength(1);

  const rejected = { ...noteOnce('again'), retry: { ...aPolicy().retry, attempts: 1 } };
  world.sandbox.failNext({ operation: 'createSiteNote' }, 'error-before');
  expect(reasonsOf(await fireToEnd(rejected))).toEqual(['unavailable']);
  expect(notes()).toHaveLength(1);
  expect(reasonsOf(await fireToEnd(rejected))).toEqual(['done']);
  expect(notes()).toHaveLength(2);
});

const claim = (once: Once) =>
  claimCall({ once, target: { id: 'a', label: 'A' }, now: 3 } as Parameters<typeof claimCall>[0], {
    ...{ operation: 'startSiteBackupDownload', input: {}, key: 'key' },
  });

test.each([
  ['started', 'done', 'already-done'],
  ['started', 'adopted', 'already-done'],
  ['started', 'task-failed', 'it makes the call'],
  ['started', 'task-cancelled', 'it makes the call'],
  ['started', 'timeout', 'unknown-effect'],
  ['started', undefined, 'unknown-effect'],
  ['done', 'unknown-effect', 'already-done'],
  [undefined, 'rejected', 'it makes the call'],
  [undefined, 'unknown-effect', 'unknown-effect'],
])(
  'when an earlier call was %s and its target ended as %s, the answer is %s',
  async (result, reason, answer) => {
    const held = { run: 'earlier', target: 'a', at: 1, endedAt: 2 };
    const holder: Holder = {
      ...{ ...held, isOurs: false },
      ...(result === undefined ? {} : { result }),
      ...(reason === undefined ? {} : { reason }),
    };
    const once = {
      claim: async (_key: string, instead?: Holder) =>
        instead ? { ...held, run: 'this', isOurs: true } : holder,
    } as unknown as Once;

    const found = await claim(once);

    expect(found && 'reason' in found ? found.reason : 'it makes the call').toBe(answer);
  },
);

test('while an earlier call is being made, a target waits', async () => {
  const holder: Holder = { run: 'earlier', target: 'a', at: 1, isOurs: false, result: 'started' };
  const once = { claim: async () => holder } as unknown as Once;

  expect(await claim(once)).toMatchObject({
    is: 'waiting',
    reason: 'conflict',
  });
});

test('a call that may have been made is not made again, and the target says what to do', async () => {
  await start({ sites: 1 });
  const pending = { from: 'listSenderEmails' as const, filters: { status: { eq: 'pending' } }, limit: 1 };
  const policy = aPolicy({
    job: 'api-call',
    select: pending,
    options: { operation: 'resendSenderEmailVerification', once: 'reminder' },
  });
  world.sandbox.failNext({ operation: 'resendSenderEmailVerification' }, 'reset-after');

  const [first] = await fireToEnd(policy);
  const [second] = await fireToEnd(policy);

  expect(first).toMatchObject({ outcome: 'failed', reason: 'unknown-effect' });
  expect(second).toMatchObject({ outcome: 'failed', reason: 'unknown-effect' });
  expect(second?.detail).toMatch(/may have made this call \(once: reminder\)\. Look in the account/);
  expect(world.sandbox.journal.effectsOf('resendSenderEmailVerification')).toHaveLength(1);
});

test.each([
  ['{{site.urll}}', /"once".*|urll/],
  ['{{site.url', /"\{\{" has no "\}\}" after it/],
  ['', /"once"/],
])('the key %j is refused when the policy is loaded, with its place', (once, message) => {
  const call = `{ operation: enableSiteActivityLogs, once: ${JSON.stringify(once)} }`;
  const mistakes = mistakesOf(apiCall, '{ from: listSites }', call);

  expect(mistakes).toEqual([expect.stringMatching(message)]);
  expect(mistakes[0]).toMatch(/^0:/);
});
