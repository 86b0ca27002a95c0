/** `maintenance` of the settings in the processes that have it. */
import { expect, onTestFinished, test } from 'vitest';
import { startDaemon } from '../../src/app/daemon.ts';
import { aPolicy } from '../support/builders.ts';
import { until } from '../support/caretaker.ts';
import { quickSyncs } from '../support/quick-syncs.ts';
import { worldOfTest } from '../support/world-of-test.ts';

const always = { name: 'always', cron: ['* * * * *'], timezone: 'UTC', forMs: 600_000 };

test('a run is refused, or skips its targets, although no daemon has recorded the freeze before', async () => {
  const world = await worldOfTest({ sites: 2, before: quickSyncs });
  world.caretaker.take({ maintenance: [{ ...always, scope: { policy: 'closed' } }] });
  await expect(world.fire(aPolicy({ name: 'closed' }))).rejects.toThrow('frozen by maintenance always');

  const { client: api } = world.caretaker.link('default');
  const { sites } = await api.call('listSites', {}, { requestClass: 'person' });
  const client = sites.find((one) => one.client)?.client;
  expect(client).toBeTruthy();
  world.caretaker.take({ maintenance: [{ ...always, scope: { client: client?.id ?? '' } }] });
  const run = await world.ended(await world.fire(aPolicy()));
  expect(Object.values(await world.reasons(run))).toContain('frozen');
});

test('a daemon records the freezes of its settings ahead, and takes back those of a rule that is removed', async () => {
  const world = await worldOfTest({ sites: 1, work: false });
  const { caretaker } = world;
  caretaker.take({ maintenance: [{ ...always, scope: { account: 'default' } }] });
  const daemon = await startDaemon({ caretaker, roles: ['scheduler'] });
  onTestFinished(() => daemon.stop());
  const recorded = async () => (await caretaker.records.freeze.parts()).length;
  await until(world, async () => (await recorded()) > 100);
  caretaker.take({ maintenance: [] });
  await until(world, async () => (await caretaker.records.freeze.active(world.clock.now())).length === 0);
});
