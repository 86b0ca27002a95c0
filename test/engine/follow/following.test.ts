import { expect, test } from 'vitest';
import { ContractError } from '../../../src/contract/answers.ts';
import { around } from '../../support/between.ts';
import { aPolicy } from '../../support/builders.ts';
import { until } from '../../support/caretaker.ts';
import { quickSyncs } from '../../support/quick-syncs.ts';
import { worldOfTest } from '../../support/world-of-test.ts';
import { untilFollowed } from '../person.ts';

test.each([
  ['is twenty seconds behind', -20_000],
  ['is a quarter of an hour ahead', 900_000],
])(
  'each end is found by the sweeps alone, at any time, even if the clock of the service %s',
  async (_, serviceAheadMs) => {
    const world = await worldOfTest({ leaps: false, sites: 4, speedUp: 20, serviceAheadMs });
    for (const [index, id] of world.sandbox.siteIds().entries())
      world.sandbox.site(id).syncTakes(6_000 + 8_000 * index);

    const end = await world.ended(await world.fire(aPolicy()));

    expect(end).toMatchObject({ status: 'succeeded', counts: { succeeded: 4 } });
    expect(end.requestsByOperation).toEqual({ syncSite: 4, listSites: expect.any(Number) });
    // Each sweep continues from the previous one: no sweep lists everything that ended since the run began.
    const sweeps = world.sandbox.journal.requests.filter(({ query }) => query.includes('last_sync_at'));
    expect(new Set(sweeps.map(({ query }) => query)).size).toBeGreaterThan(1);
  },
);

test('when the list cannot be read, work is polled one by one; a poll without a response decides nothing and is repeated', async () => {
  const world = await worldOfTest({ leaps: false, sites: 3, before: quickSyncs });
  let lists = 0;
  around(world.caretaker.link('default').client, 'call', (call, id) => {
    // The first list is the one of the plan.
    if (id !== 'listSites' || lists++ === 0) return call();
    return Promise.reject(new ContractError(id, 'sites[0].id', 'is missing'));
  });
  world.sandbox.failNext({ operation: 'showSite', times: 3 }, 'status-503');

  const fired = await world.fire(aPolicy());
  await untilFollowed(world, fired, 3);
  world.clock.leap(60_000);
  await until(world, () => world.sandbox.journal.countOf('showSite') > 0);
  world.clock.leap(120_000);
  const end = await world.ended(fired);

  expect(Object.values(await world.reasons(end))).toEqual(['done', 'done', 'done']);
  expect(end.requestsByOperation?.['showSite']).toBeGreaterThan(3);
});

test('work that takes long is polled at growing intervals', async () => {
  const world = await worldOfTest({ leaps: false, sites: 1 });
  world.sandbox.site('site-0001').syncTakes(86_400_000);
  const { journal } = world.sandbox;
  const fired = await world.fire(aPolicy());
  await untilFollowed(world, fired, 1);
  world.clock.leap(120_000);
  await until(world, () => journal.countOf('showSite') > 0);

  // For five minutes and more, with a sweep every twenty seconds.
  for (let sweep = 0; sweep < 16; sweep += 1) {
    const sweeps = journal.countOf('listSites');
    world.clock.leap(20_000);
    await until(world, () => journal.countOf('listSites') > sweeps);
  }

  // After one and two minutes.
  expect(journal.countOf('showSite')).toBeGreaterThan(1);
  expect(journal.countOf('showSite')).toBeLessThan(6);
  expect((await world.targets(fired))[0]?.state).toBe('following');
});

test('an account that refuses the sweeps is blocked, even when no target is left to start', async () => {
  const world = await worldOfTest({ leaps: false, sites: 3 });
  for (const id of world.sandbox.siteIds()) world.sandbox.site(id).syncTakes(86_400_000);
  const fired = await world.fire(aPolicy());
  await untilFollowed(world, fired, 3);

  world.sandbox.account.deactivate();

  expect((await world.ended(fired, ({ status }) => status === 'blocked')).status).toBe('blocked');
});

test('work is followed to its end when the service shows no times', async () => {
  const world = await worldOfTest({ leaps: false, sites: 3, dateHeader: false });
  const sites = world.sandbox.siteIds().map((id) => world.sandbox.site(id));
  for (const site of sites) site.syncTakes(86_400_000);
  const fired = await world.fire(aPolicy());
  await untilFollowed(world, fired, 3);
  for (const site of sites) site.finishSync();
  const end = await world.ended(fired);
  expect(Object.values(await world.reasons(end))).toEqual(['done', 'done', 'done']);
});

test('the usual duration of a sync is learned from syncs that the run started, never from adopted ones', async () => {
  const world = await worldOfTest({ leaps: false, sites: 1 });
  const [id = ''] = world.sandbox.siteIds();
  const { accounts } = world.caretaker.records;
  const site = world.sandbox.site(id);
  site.syncTakes(86_400_000);
  site.startSync();

  const fired = await world.fire(aPolicy());
  await untilFollowed(world, fired, 1);
  site.finishSync();
  const adopted = await world.ended(fired);
  site.syncTakes(5_000);
  const afterAdopted = await accounts.usualMs('default', 'sync');
  await world.ended(await world.fire(aPolicy()));

  expect(await world.reasons(adopted)).toEqual({ [id]: 'adopted' });
  expect(afterAdopted).toBeUndefined();
  expect(await accounts.usualMs('default', 'sync')).toBeGreaterThan(0);
});
