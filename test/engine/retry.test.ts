/** Which targets a retry works on. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Retried } from '../../src/engine/run-commands.ts';
import type { Target } from '../../src/run/run.ts';
import { aPolicy, aRun, aTarget } from '../support/builders.ts';
import { startWorld, type World } from '../support/caretaker.ts';

let world: World;
beforeAll(async () => {
  world = await startWorld({ sites: 1, work: false });
});
afterAll(() => world.stop());

const ended = (id: string, outcome: Target['outcome'], reason: string) =>
  aTarget(id, { state: 'ended', outcome, reason, finishedAt: 1 } as Partial<Target>);

/** The targets of the retry of a run with seven targets, whose ids begin with how they ended. */
async function retried(which: Retried | undefined, targets: Target[] = all): Promise<string[] | string> {
  const { records, engine } = world.caretaker;
  // A policy of its own: no run of another test is in its way.
  const policy = aPolicy({ name: `p-${Math.random()}` });
  const run = aRun({ id: `run-${Math.random()}`, policy: policy.name, policyJson: JSON.stringify(policy) });
  await records.runs.create(run, { concurrency: 5, targetMs: 60_000 });
  await records.runs.move(run, 'planning', { at: 1 });
  const planFence = await records.plans.begin(run.id);
  await records.plans.add(run.id, planFence, targets);
  await records.runs.move(run, 'running', { at: 2, planComplete: true, planFence });
  await records.runs.move(run, 'partial', { at: 3 });
  const again = await engine.retry(run.id, which && { which }).catch((error: Error) => error);
  return again instanceof Error
    ? again.message.replaceAll(run.id, 'R')
    : (await records.runs.only(again.id)).sort();
}

const all = [
  ended('done', 'succeeded', 'done'),
  ended('timeout', 'failed', 'timeout'),
  ended('task-failed', 'failed', 'task-failed'),
  ended('rejected', 'failed', 'rejected'),
  ended('unknown', 'failed', 'unknown-effect'),
  ended('window', 'cancelled', 'window-over'),
  ended('skipped', 'skipped', 'not-eligible'),
];

test('without more words it works on what failed for a reason for which a retry may help', async () => {
  expect(await retried(undefined)).toEqual(['task-failed', 'timeout']);
});

test.each<[string, Retried, string[] | string]>([
  ['reasons', { reasons: ['rejected', 'timeout'] }, ['rejected', 'timeout']],
  ['a reason of what was not begun', { reasons: ['window-over'] }, ['window']],
  ['all that failed', { reasons: ['all'] }, ['rejected', 'task-failed', 'timeout', 'unknown']],
  ['targets, whatever they failed with', { targets: ['unknown', 'timeout'] }, ['timeout', 'unknown']],
  ['both', { reasons: ['timeout'], targets: ['unknown', 'timeout'] }, ['timeout']],
  [
    'a reason that nothing has',
    { reasons: ['internal'] },
    'No target of the run R that failed or was cancelled is meant; there are 1 timeout, 1 task-failed, 1 rejected, 1 unknown-effect, 1 window-over.',
  ],
  ['a target that is not there', { targets: ['other'] }, 'The run R has no target other.'],
])('%s can be chosen', async (_, which, expected) => {
  expect(await retried(which)).toEqual(expected);
});

test('when a retry helps none it says why, and what to write once the cause is fixed', async () => {
  const targets = [ended('a', 'failed', 'rejected'), ended('b', 'failed', 'rejected')];
  expect(await retried(undefined, targets)).toBe(
    'A retry of the run R helps none of its targets unless their cause is fixed: 2 rejected. When it is, say which: caretaker runs retry R --with-reason rejected',
  );
  expect(await retried(undefined, [ended('a', 'succeeded', 'done')])).toBe(
    'Nothing failed in the run R: there is nothing to retry.',
  );
});
