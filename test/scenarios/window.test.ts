/** `window.until` of a policy: a scheduled run begins nothing after it, and the next one begins with what is left. */
import { afterEach, expect, test } from 'vitest';
import { Actor } from '../../src/engine/act/actor.ts';
import { planRun } from '../../src/engine/plan/planner.ts';
import { waitOf } from '../../src/run/run-end.ts';
import { partsOf } from '../support/between.ts';
import { aPolicy, aSchedule } from '../support/builders.ts';
import { startWorld, until, type World } from '../support/caretaker.ts';
import { healthySites, quickSyncs } from '../support/quick-syncs.ts';

let world: World;
afterEach(() => world.stop());

const MINUTE = 60_000;
const policy = (until: number) =>
  aPolicy({
    schedule: aSchedule({ overlap: 'allow' }),
    limits: { ...aPolicy().limits, concurrency: 3 },
    window: { until: { afterMs: until } },
  });
const fire = (until: number) =>
  world.caretaker.engine.fire(policy(until), { trigger: 'schedule', scheduledFor: world.clock.now() });

test('after its window a run begins nothing, follows what is in flight, and the next run begins with the rest', async () => {
  world = await startWorld({ leaps: false, sites: 8, before: healthySites });
  const { sandbox, clock, caretaker } = world;
  for (const id of sandbox.siteIds()) sandbox.site(id).syncTakes(24 * 60 * MINUTE);
  const fired = await fire(MINUTE);
  const { targets: stored } = caretaker.records;
  await until(world, async () => (await stored.inState(fired.id, 'following', 9)).length === 3);
  clock.leap(MINUTE);
  // What is in flight ends a moment later, and its places are free.
  await quickSyncs(world);
  for (const id of sandbox.journal.effectsOf('syncSite')) sandbox.site(id).finishSync();
  const run = await world.ended(fired);

  const targets = await world.targets(run);
  const left = targets.filter(({ reason }) => reason === 'window-over').map(({ id }) => id);
  const done = targets.filter(({ outcome }) => outcome === 'succeeded');
  expect(run).toMatchObject({ status: 'partial', ending: 'window-over' });
  expect(run.detail).toMatch(/^Its window ended at \S+ \S+ \(window\.until\)\.$/);
  const ends = run.windowEndsAt ?? Number.NaN;
  expect(ends - run.scheduledFor).toBe(MINUTE);
  expect([done.length, left.length]).toEqual([3, 5]);
  for (const { startedAt = Number.NaN, finishedAt = 0 } of done) {
    expect(startedAt).toBeLessThan(ends);
    expect(finishedAt).toBeGreaterThan(ends);
  }

  const next = await world.ended(await fire(60 * MINUTE));
  const begun = (await world.targets(next)).map(({ id, startedAt = Number.NaN }) => ({ id, startedAt }));
  const startsOf = (among: readonly string[]) =>
    begun.filter(({ id }) => among.includes(id)).map(({ startedAt }) => startedAt);
  // Those of one moment may be of both.
  expect(Math.max(...startsOf(left))).toBeLessThanOrEqual(Math.min(...startsOf(done.map(({ id }) => id))));
});

test('a target that was dispatched before the end is not begun after it, whenever the run itself is ended', async () => {
  world = await startWorld({ leaps: false, sites: 3, work: false });
  const run = await fire(MINUTE);
  const parts = partsOf(world.caretaker);
  await planRun(parts, { kind: 'plan', run: run.id }, new AbortController().signal);
  const [target] = await parts.records.targets.inState(run.id, 'acting', 1);
  if (!target) throw new Error('Nothing was dispatched.');
  world.clock.leap(2 * MINUTE);

  await new Actor(parts, 1).act({ kind: 'act', run: run.id, targets: [target] });

  expect((await world.reasons(run))[target.id]).toBe('window-over');
  expect(world.sandbox.journal.effectsOf('syncSite')).toEqual([]);
});

test('a run that was not planned in its window ends as stopped, without a request', async () => {
  world = await startWorld({ leaps: false, sites: 3, work: false });
  const fired = await fire(MINUTE);
  expect(waitOf(fired)).toContain('waits for its turn');
  world.clock.leap(2 * MINUTE);
  await world.another();
  const run = await world.ended(fired);
  expect(run).toMatchObject({ status: 'stopped', requests: 0 });
  expect(run.detail).toContain('It had not been planned.');
});
