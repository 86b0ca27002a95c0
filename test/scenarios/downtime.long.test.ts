import { afterEach, describe, expect, test } from 'vitest';
import { aPolicy } from '../support/builders.ts';
import { startWorld, type World } from '../support/caretaker.ts';

let world: World;
afterEach(() => world.stop());

const limits = { concurrency: 20, maxTargets: 1000, maxPercent: 100 };

const begun = async (run: string) =>
  (await world.targets(run)).filter(({ startedAt }) => startedAt !== undefined).length;

describe('an API that is unavailable for minutes', () => {
  test('uses up no attempt and fails no site: nothing new is started meanwhile', async () => {
    world = await startWorld({ sites: 60, speedUp: 20 });
    for (const id of world.sandbox.siteIds()) world.sandbox.site(id).syncTakes(20_000);
    const fired = await world.fire(aPolicy({ limits, retry: { ...aPolicy().retry, attempts: 1 } }));
    await world.ended(fired, ({ counts }) => counts.succeeded > 3);
    const from = world.clock.now();
    world.sandbox.outage.begin('status-503');
    const begunBefore = await begun(fired.id);
    await world.clock.sleep(120_000);
    const begunMeanwhile = (await begun(fired.id)) - begunBefore;
    // Requests in flight are answered by then. From now on, only the availability of the service is checked.
    const asked = world.sandbox.journal.requests.filter(
      ({ at }) => at > from + 30_000 && at < from + 120_000,
    );
    world.sandbox.outage.end();

    const run = await world.ended(fired);

    expect(begunMeanwhile).toBeLessThanOrEqual(limits.concurrency);
    expect(asked.length).toBeGreaterThan(0);
    expect(asked.length).toBeLessThan(25);
    expect(Object.values(await world.reasons(run))).not.toContain('unavailable');
    const { planned, succeeded, failed, skipped } = run.counts;
    expect(succeeded + failed + skipped).toBe(planned);
    const failures = (await world.targets(run)).filter(({ outcome }) => outcome === 'failed');
    expect(failures.every(({ reason }) => reason === 'task-failed')).toBe(true);
  });
});

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
