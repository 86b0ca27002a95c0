/** Only whole runs over a fleet show that each sync is requested once, whatever fails meanwhile. */
import { afterEach, expect, test } from 'vitest';
import { aPolicy } from '../support/builders.ts';
import { startWorld, until, type World } from '../support/caretaker.ts';
import { quickSyncs } from '../support/quick-syncs.ts';

let world: World;
afterEach(() => world.stop());

const DAY_MS = 86_400_000;

const syncing = ({ sandbox }: World) =>
  sandbox.siteIds().filter((id) => sandbox.site(id).state().syncInProgress);
/** Finishes so many of the syncs in progress. */
const finish = (count = Number.POSITIVE_INFINITY) => {
  for (const id of syncing(world).slice(0, count)) world.sandbox.site(id).finishSync();
};

test('a run counts every request that it has sent, and asks for no site by itself', async () => {
  // Slow enough that less than a minute passes between two polls on a busy machine.
  world = await startWorld({ sites: 6, speedUp: 20, leaps: false, before: quickSyncs });

  const run = await world.ended(await world.fire(aPolicy()));

  const { journal } = world.sandbox;
  expect(journal.countOf('showSite')).toBe(0);
  expect(journal.countOf('showSiteSnapshot')).toBe(0);
  // The requests of the round in which the last target ends are counted after it.
  const counted = async () => (await world.caretaker.records.runs.get(run.id))?.requests;
  await until(world, async () => (await counted()) === journal.requests.length);
});

// That each kind of outage is the same to a run: `client/client.test.ts`.
test.each<[string, () => Promise<void>]>([
  [
    'an API that is unavailable for a minute delays the run and changes nothing else',
    async () => {
      world.sandbox.outage.begin('status-503');
      await world.clock.sleep(60_000);
      world.sandbox.outage.end();
    },
  ],
  [
    'a Redis that is killed and restarted loses nothing',
    async () => {
      await world.redis.kill();
      await world.redis.restart();
    },
  ],
])('%s', async (_, disturb) => {
  world = await startWorld({ sites: 10 });
  for (const id of world.sandbox.siteIds()) world.sandbox.site(id).syncTakes(DAY_MS);
  const limits = { concurrency: 4, maxTargets: 1000, maxPercent: 100 };
  const fired = await world.fire(aPolicy({ limits }));
  await until(world, () => syncing(world).length === 4);
  finish(2);
  await world.ended(fired, ({ counts }) => counts.succeeded > 1);
  await disturb();
  await quickSyncs(world);
  finish();

  const run = await world.ended(fired);

  expect(run.counts).toMatchObject({ planned: 10, failed: 0 });
  const synced = world.sandbox.journal.effectsOf('syncSite');
  expect(new Set(synced).size).toBe(synced.length);
});
