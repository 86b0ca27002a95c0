/** The estimated cost and duration of a run in its plan. */
import { afterEach, expect, test } from 'vitest';
import { aPolicy } from '../../support/builders.ts';
import { startWorld, type World } from '../../support/caretaker.ts';
import { quickSyncs } from '../../support/quick-syncs.ts';

let world: World;
afterEach(() => world.stop());

const limits = { concurrency: 1_000, maxTargets: 10_000, maxPercent: 100 };

test('a plan has a cost even if the only previous run was recorded by a version that did not store costs', async () => {
  world = await startWorld({ before: quickSyncs, sites: 3, work: false });
  const { engine, records, clock } = world.caretaker;
  const old = await world.fire(aPolicy({ limits }));
  await records.runs.move(old, 'planning', { at: clock.now() });
  await records.runs.move(old, 'running', { at: clock.now(), planComplete: true });
  await records.runs.move(old, 'succeeded', { at: clock.now() });

  const { cost } = await engine.preview(aPolicy({ limits }));

  expect(cost.pastRuns).toBe(1);
  expect(Object.values(cost).filter((number) => !Number.isFinite(number))).toEqual([]);
});

test('a plan estimates its duration beside active runs and other clients', async () => {
  // What others used up counts for one minute: slow enough that the run starts within it on a busy machine.
  world = await startWorld({
    before: quickSyncs,
    sites: 120,
    speedUp: 6,
    rateLimit: 100,
    budget: { requestsPerMinute: 100, reserve: 0.1 },
  });
  const { engine, link } = world.caretaker;
  const alone = (await engine.preview(aPolicy({ limits }))).cost;
  expect(alone).toMatchObject({ runsBeside: 0, takesMs: 60_000 });

  world.sandbox.account.useUpRequests(40);
  const large = await world.fire(aPolicy({ name: 'large', limits }));
  await world.ended(large, ({ status }) => status === 'running');
  const beside = (await engine.preview(aPolicy({ limits, priority: 'low' }))).cost;

  expect(beside.runsBeside).toBe(1);
  expect(beside.othersPerMinute).toBeGreaterThanOrEqual(30);
  expect(beside.takesMs).toBeGreaterThan(4 * alone.takesMs);
  expect((await link('default').budget.usage()).limit).toBe(100);
});

test('a night on which nothing was worked on does not lower what the next one is expected to cost', async () => {
  world = await startWorld({ before: quickSyncs, sites: 12 });
  const { engine } = world.caretaker;
  const policy = aPolicy({ limits });
  const sites = world.sandbox.siteIds().map((id) => world.sandbox.site(id));
  await world.ended(await world.fire(policy));
  const { cost } = await engine.preview(policy);
  for (const site of sites) site.underMaintenance(true);
  const idle = await world.ended(await world.fire(policy));
  for (const site of sites) site.underMaintenance(false);

  expect(idle.counts).toMatchObject({ succeeded: 0, failed: 0 });
  expect((await engine.preview(policy)).cost).toEqual(cost);
});
