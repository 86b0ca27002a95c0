/** The estimated cost of a run in its plan, compared with the actual cost. */
import { afterEach, expect, test } from 'vitest';
import { aPolicy } from '../../support/builders.ts';
import { startWorld, type World } from '../../support/caretaker.ts';
import { quickSyncs } from '../../support/quick-syncs.ts';

let world: World;
afterEach(() => world.stop());

const limits = { concurrency: 1_000, maxTargets: 10_000, maxPercent: 100 };
const total = ({ planning, acting, following }: { planning: number; acting: number; following: number }) =>
  planning + acting + following;

test('the estimate in a plan is within a tenth of the actual cost, from the first run on', async () => {
  // The service has no limit of its own: it would reject requests that a busy machine sends a window late, and they
  // would be sent again. Slow enough that no request is late by a minute.
  world = await startWorld({
    before: quickSyncs,
    sites: 150,
    speedUp: 10,
    rateLimit: 0,
    budget: { requestsPerMinute: 100, reserve: 0 },
  });
  // Work that takes much longer than usual is polled now and then, in one run and not in the next.
  for (const id of world.sandbox.siteIds()) world.sandbox.site(id).syncTakes(45_000);
  const { engine } = world.caretaker;
  for (const pastRuns of [0, 1]) {
    const { cost } = await engine.preview(aPolicy({ limits }));
    const run = await world.ended(await world.fire(aPolicy({ limits })));

    expect(cost.pastRuns).toBe(pastRuns);
    expect(Math.abs(run.requests - total(cost)) / run.requests).toBeLessThanOrEqual(0.1);
    const spent = Object.values(run.requestsByOperation ?? {}).reduce((sum, count) => sum + count, 0);
    expect(spent).toBe(run.requests);
  }
});

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
