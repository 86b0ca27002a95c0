/** The estimated cost of a run in its plan, compared with the actual cost: only whole runs show how far they are apart. */
import { expect, test } from 'vitest';
import { aPolicy } from '../../support/builders.ts';
import { worldOfTest } from '../../support/world-of-test.ts';

const limits = { concurrency: 1_000, maxTargets: 10_000, maxPercent: 100 };
const total = ({ planning, acting, following }: { planning: number; acting: number; following: number }) =>
  planning + acting + following;

test('the estimate in a plan is within a tenth of the actual cost, from the first run on', async () => {
  // The service has no limit of its own: it would reject requests that a busy machine sends a window late, and they
  // would be sent again. Slow enough that no request is late by a minute.
  const world = await worldOfTest({
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
