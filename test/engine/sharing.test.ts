/**
 * Runs that share the requests of an account: which goes first, which waits, and what is left when they end.
 */
import { Redis } from 'ioredis';
import { afterEach, expect, test } from 'vitest';
import { keys, keysOfRun } from '../../src/records/keys.ts';
import { aPolicy } from '../support/builders.ts';
import { startWorld, until, type World } from '../support/caretaker.ts';
import { quickSyncs } from '../support/quick-syncs.ts';

let world: World;
afterEach(() => world.stop());

const limits = { concurrency: 1_000, maxTargets: 10_000, maxPercent: 100 };

const scarce = (requestsPerMinute: number) => ({
  leaps: false,
  before: quickSyncs,
  rateLimit: requestsPerMinute,
  budget: { requestsPerMinute, reserve: 0 },
});

test('while a run of fifty uses up every window the queue has no more than a window, and a run of five ends', async () => {
  world = await startWorld({ ...scarce(20), sites: 60 });
  const sites = world.sandbox.siteIds();
  const large = await world.fire(aPolicy({ name: 'large', limits }), sites.slice(0, 50));
  await world.ended(large, ({ status }) => status !== 'queued' && status !== 'planning');
  let most = 0;
  const look = async () => {
    const { actions } = await world.caretaker.queues.counts();
    most = Math.max(most, (actions?.waiting ?? 0) + (actions?.active ?? 0));
  };
  await until(world, async () => {
    await look();
    return world.sandbox.journal.effectsOf('syncSite').length > 6;
  });

  const small = await world.fire(aPolicy({ name: 'small', limits }), sites.slice(50, 55));
  await until(world, async () => {
    await look();
    return (await world.caretaker.records.runs.get(small.id))?.finishedAt !== undefined;
  });

  expect(world.sandbox.journal.effectsOf('syncSite').length).toBeLessThan(45);
  expect((await world.caretaker.records.runs.get(large.id))?.counts.planned).toBe(50);
  expect(most).toBeGreaterThan(0);
  expect(most).toBeLessThanOrEqual(20);
});

test('plans that wait for the budget occupy no slot of the queue, and each requests its pages once', async () => {
  world = await startWorld({ ...scarce(30), sites: 3, work: false });
  const { engine, queues } = world.caretaker;
  const other = await world.another({ work: false });
  world.sandbox.account.useUpRequests(30);
  const runs = await Promise.all(
    Array.from({ length: 6 }, (_, index) => world.fire(aPolicy({ name: `policy-${index}` }))),
  );
  const working = [engine.work(50), other.engine.work(50)];

  await until(world, async () => (await queues.counts())['plans']?.active === 0);
  const ended = await Promise.all(runs.map((run) => world.ended(run)));
  await Promise.all(working.map((one) => one.stop()));

  expect(ended.map(({ status }) => status)).toEqual(runs.map(() => 'succeeded'));
  expect(
    ended
      .map(({ requestsByOperation }) => requestsByOperation?.['listSites'] ?? 0)
      .filter((count) => count < 1),
  ).toEqual([]);
  const answered = world.sandbox.journal.requests.filter(({ status }) => status === 200);
  expect(answered.length).toBeGreaterThan(0);
});

/** What `TTL` says of a key without an end; of one that is gone meanwhile it says -2. */
const NEVER_EXPIRES = -1;
/**
 * Entries that have ended are kept for people to look at, a number of them in each queue (test/queue), and so are the
 * counts of some hours, which a queue has from the first full minute of the clock on.
 */
const isEndedEntry = (key: string): boolean => /:queue:[a-z]+:(?:\d+|metrics:[a-z]+:data)$/.test(key);

test('ended and cancelled runs leave nothing in Redis but their records', async () => {
  world = await startWorld({ leaps: false, before: quickSyncs, sites: 8 });
  const redis = new Redis(world.redis.options);
  const keysNow = async () => (await redis.keys('*')).sort();
  await world.ended(await world.fire(aPolicy()));
  const settled = async () => (await world.caretaker.records.runs.activeAccounts()).length === 0;
  await until(world, settled);
  const before = await keysNow();

  const finished = await world.fire(aPolicy());
  await world.ended(finished);
  for (const id of world.sandbox.siteIds()) world.sandbox.site(id).syncTakes(3_600_000);
  const cancelled = await world.fire(aPolicy({ limits: { ...limits, concurrency: 3 } }));
  await world.ended(cancelled, ({ status }) => status !== 'queued' && status !== 'planning');
  await world.caretaker.engine.forceEnd(cancelled.id);
  await until(world, settled);

  const index = keys.runsInStatus('cancelled');
  const remembered = new Set([
    index,
    ...[finished, cancelled].flatMap(({ id }) => Object.values<string>(keysOfRun(id))),
  ]);
  const added = (await keysNow()).filter(
    (key) => !before.includes(key) && !remembered.has(key) && !isEndedEntry(key),
  );
  const passing = await Promise.all(added.map(async (key) => [key, await redis.pttl(key)] as const));
  redis.disconnect();
  expect(passing.filter(([, ttl]) => ttl === NEVER_EXPIRES)).toEqual([]);
});
