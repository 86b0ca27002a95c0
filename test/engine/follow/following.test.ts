import { afterEach, expect, test } from 'vitest';
import { ContractError } from '../../../src/contract/answers.ts';
import { around } from '../../support/between.ts';
import { aPolicy } from '../../support/builders.ts';
import { startWorld, type World } from '../../support/caretaker.ts';

let world: World;
afterEach(() => world.stop());

test.each([
  ['is twenty seconds behind', -20_000],
  ['is a quarter of an hour ahead', 900_000],
])(
  'each end is seen by the sweeps alone, whenever it comes, though the clock of the service %s',
  async (_, serviceAheadMs) => {
    world = await startWorld({ sites: 6, speedUp: 10, serviceAheadMs });
    for (const [index, id] of world.sandbox.siteIds().entries())
      world.sandbox.site(id).syncTakes(10_000 + 5_000 * index);

    const end = await world.ended(await world.fire(aPolicy()));

    expect(end).toMatchObject({ status: 'succeeded', counts: { succeeded: 6 } });
    expect(end.requestsByOperation).toEqual({ syncSite: 6, listSites: expect.any(Number) });
  },
);

test('a list that cannot be read leaves what is in flight to be looked at one by one', async () => {
  world = await startWorld({ sites: 3 });
  let lists = 0;
  around(world.caretaker.link('default').client, 'call', (call, id) => {
    // The first list is that of the plan.
    if (id !== 'listSites' || lists++ === 0) return call();
    return Promise.reject(new ContractError(id, 'sites[0].id', 'is missing'));
  });

  const end = await world.ended(await world.fire(aPolicy()));

  expect(end).toMatchObject({ status: 'succeeded', counts: { succeeded: 3 } });
  expect(end.requestsByOperation?.['showSite']).toBeGreaterThan(0);
});

test('how long syncs take is learned from those that the run began, never from one that it found under way', async () => {
  world = await startWorld({ sites: 1, speedUp: 20 });
  const [id = ''] = world.sandbox.siteIds();
  const { accounts } = world.caretaker.records;
  const site = world.sandbox.site(id);
  site.syncTakes(20_000);
  site.startSync();

  const adopted = await world.ended(await world.fire(aPolicy()));
  const afterAdopted = await accounts.usualMs('default', 'sync');
  await world.ended(await world.fire(aPolicy()));

  expect(await world.reasons(adopted)).toEqual({ [id]: 'adopted' });
  expect(afterAdopted).toBeUndefined();
  expect(await accounts.usualMs('default', 'sync')).toBeGreaterThan(0);
});
