/** Only whole runs over a fleet show that each sync is requested once, whatever fails meanwhile. */
import { afterEach, describe, expect, test } from 'vitest';
import { aPolicy } from '../support/builders.ts';
import { startWorld, until, type World } from '../support/caretaker.ts';
import { quickSyncs } from '../support/quick-syncs.ts';

let world: World;
afterEach(() => world.stop());

const limits = { concurrency: 4, maxTargets: 1000, maxPercent: 100 };
const DAY_MS = 86_400_000;

/** Makes the syncs of these sites last until they are finished by hand. */
const holdSyncs = ({ sandbox }: World, ids = sandbox.siteIds()) => {
  for (const id of ids) sandbox.site(id).syncTakes(DAY_MS);
};
/** Resolves when so many syncs are in progress. */
const inProgress = (count: number) => until(world, () => syncsInFlight(world) === count);
/** Finishes so many of the syncs in progress. */
const finish = ({ sandbox }: World, count = Number.POSITIVE_INFINITY) => {
  const running = sandbox.siteIds().filter((id) => sandbox.site(id).state().syncInProgress);
  for (const id of running.slice(0, count)) sandbox.site(id).finishSync();
};

/** How many sites the sandbox is syncing now. */
const syncsInFlight = ({ sandbox }: World) =>
  sandbox.siteIds().filter((id) => sandbox.site(id).state().syncInProgress).length;

describe('a nightly run over the fleet', () => {
  test('ends with an outcome for each of sixty sites, each sync requested once, and without polling each site', async () => {
    // Slow enough that less than a minute passes between two polls on a busy machine.
    world = await startWorld({ sites: 60, speedUp: 20, leaps: false, before: quickSyncs });

    const run = await world.ended(await world.fire(aPolicy()));

    expect(run.status).toBe('partial');
    expect(run.counts).toMatchObject({ planned: 60, cancelled: 0 });
    const reasons = Object.values(await world.reasons(run));
    expect(reasons.filter((reason) => reason === 'daily-limit')).toHaveLength(2);
    expect(reasons.filter((reason) => reason === 'maintenance')).toHaveLength(3);
    expect(reasons.filter((reason) => reason === 'task-failed')).toHaveLength(2);
    expect(reasons.filter((reason) => reason === 'not-eligible')).toHaveLength(7);
    expect(reasons.filter((reason) => reason === 'done')).toHaveLength(46);
    const { journal } = world.sandbox;
    expect(new Set(journal.effectsOf('syncSite')).size).toBe(journal.effectsOf('syncSite').length);
    expect(journal.countOf('showSite')).toBe(0);
    expect(journal.countOf('showSiteSnapshot')).toBe(0);
    // The requests of the round in which the last target ends are counted after it.
    const counted = async () => (await world.caretaker.records.runs.get(run.id))?.requests;
    await until(world, async () => (await counted()) === journal.requests.length);
  });

  test('never has more sites in flight than the policy allows', async () => {
    world = await startWorld({ sites: 20, leaps: false });
    for (const id of world.sandbox.siteIds()) world.sandbox.site(id).syncTakes(30_000);
    let most = 0;
    const run = await world.fire(aPolicy({ limits: { ...limits, concurrency: 5 } }));
    await world.ended(run, (now) => {
      most = Math.max(most, syncsInFlight(world));
      return now.status === 'partial' || now.status === 'succeeded';
    });
    expect(most).toBeGreaterThan(2);
    expect(most).toBeLessThanOrEqual(5);
  });

  test('lets a small run pass a large one that began earlier', async () => {
    world = await startWorld({ sites: 30, before: quickSyncs });
    holdSyncs(world, world.sandbox.siteIds().slice(3));
    const large = await world.fire(aPolicy({ name: 'large', limits }));
    await inProgress(4);
    const small = await world.fire(aPolicy({ name: 'small' }), ['site-0002', 'site-0003']);
    await world.ended(small);
    const largeNow = await world.caretaker.records.runs.get(large.id);
    expect(largeNow?.status).toBe('running');
  });
});

describe('problems with one site', () => {
  test('a sync whose connection was cut is followed if it began, and requested once more if not', async () => {
    world = await startWorld({ sites: 5 });
    holdSyncs(world);
    world.sandbox.failNext({ operation: 'syncSite', times: 2 }, 'reset-after');
    world.sandbox.failNext({ operation: 'syncSite', times: 2 }, 'reset-before');

    const fired = await world.fire(aPolicy());
    const { targets } = world.caretaker.records;
    await until(world, async () => (await targets.inState(fired.id, 'following', 5)).length === 5);
    finish(world);
    const run = await world.ended(fired);

    expect(run.status).toBe('succeeded');
    expect(world.sandbox.journal.effectsOf('syncSite').sort()).toEqual([...world.sandbox.siteIds()].sort());
  });
});

describe('problems with everything', () => {
  // Each further kind of outage: `nightly-sync.long.test.ts`.
  test('an API that is unavailable for a minute delays the run and changes nothing else', async () => {
    world = await startWorld({ sites: 10 });
    holdSyncs(world);
    const fired = await world.fire(aPolicy({ limits }));
    await inProgress(4);
    finish(world, 2);
    await world.ended(fired, ({ counts }) => counts.succeeded > 1);
    world.sandbox.outage.begin('status-503');
    await world.clock.sleep(60_000);
    world.sandbox.outage.end();
    await quickSyncs(world);
    finish(world);

    const run = await world.ended(fired);

    expect(run.counts).toMatchObject({ planned: 10, failed: 0 });
    const synced = world.sandbox.journal.effectsOf('syncSite');
    expect(new Set(synced).size).toBe(synced.length);
  });

  test('a Redis that is killed and restarted loses nothing', async () => {
    world = await startWorld({ sites: 10 });
    holdSyncs(world);
    const fired = await world.fire(aPolicy({ limits }));
    await inProgress(4);
    finish(world, 2);
    await world.ended(fired, ({ counts }) => counts.succeeded > 1);
    await world.redis.kill();
    await world.redis.restart();
    await quickSyncs(world);
    finish(world);

    const run = await world.ended(fired);

    expect(run.counts.planned).toBe(10);
    const synced = world.sandbox.journal.effectsOf('syncSite');
    expect(new Set(synced).size).toBe(synced.length);
  });
});
