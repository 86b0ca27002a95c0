import { afterEach, describe, expect, test } from 'vitest';
import { aPolicy } from '../support/builders.ts';
import { startWorld, type World } from '../support/caretaker.ts';

let world: World;
afterEach(() => world.stop());

const limits = { concurrency: 20, maxTargets: 1000, maxPercent: 100 };

// Only a list of several pages shows which of them a sweep reads.
describe('one slow site', () => {
  test('does not make every sweep list again everything that has ended since the run began', async () => {
    world = await startWorld({ sites: 230 });
    const slow = world.sandbox.siteIds().find((id) => isFit(id)) ?? '';
    world.sandbox.site(slow).syncTakes(3 * 3_600_000);
    const policy = aPolicy({
      limits: { ...limits, concurrency: 300 },
      select: { filters: {}, sort: 'created_at,asc' },
    });
    const fired = await world.fire(policy);
    const { journal } = world.sandbox;
    await world.ended(fired, ({ counts }) => {
      const { planned, succeeded, failed, skipped } = counts;
      return planned > 1 && succeeded + failed + skipped === planned - 1;
    });
    expect(world.sandbox.site(slow).state().syncInProgress).toBe(true);
    const since = journal.requests.length;

    await world.clock.sleep(90_000);

    const sweeps = journal.requests.slice(since).filter(({ operation }) => operation === 'listSites');
    expect(sweeps.length).toBeGreaterThan(2);
    // The first sweep may still read targets that ended together with the last one.
    expect(sweeps.slice(2).filter(({ query }) => /page=[^1]/.test(query))).toEqual([]);
    world.sandbox.site(slow).finishSync();
    expect((await world.reasons(await world.ended(fired)))[slow]).toBe('done');
  });
});

/** Whether a site can be synced. */
function isFit(id: string): boolean {
  const { connected, locked, paused, underMaintenance, syncsToday } = world.sandbox.site(id).state();
  return connected && !locked && !paused && !underMaintenance && syncsToday === 0;
}
