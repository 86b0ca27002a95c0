import { afterEach, expect, test } from 'vitest';
import { aPolicy } from '../support/builders.ts';
import { startWorld, until, type World } from '../support/caretaker.ts';
import { quickSyncs } from '../support/quick-syncs.ts';

let world: World;
afterEach(() => world.stop());

const effects = () => world.sandbox.journal.effects;
/** Another policy that changes sites. */
const notes = aPolicy({
  name: 'a-note-for-each',
  job: 'api-call',
  select: { from: 'listSites', filters: {} },
  options: { operation: 'createSiteNote', body: { note: { content: 'Leader.' } } },
});

test('two policies never change one site at the same time: the second waits, names the other run, and uses up no attempt', async () => {
  world = await startWorld({ leaps: false, sites: 1 });
  const site = world.sandbox.site('site-0001');
  site.syncTakes(3_600_000);
  const first = await world.fire(aPolicy({ name: 'nightly-sync' }));
  await until(world, () => site.state().syncInProgress);

  const second = await world.fire(notes);
  await until(world, async () => (await world.targets(second))[0]?.detail !== undefined);
  const [waiting] = await world.targets(second);
  world.clock.leap(3_600_000);
  await Promise.all([world.ended(first), world.ended(second)]);

  expect(waiting).toMatchObject({
    state: 'waiting',
    attempts: 0,
    detail: `The run ${first.id} is active on the site.`,
  });
  expect(await world.reasons(second)).toEqual({ 'site-0001': 'done' });
  const [sync, note, ...more] = effects();
  expect([sync?.operation, note?.operation, more]).toEqual(['syncSite', 'createSiteNote', []]);
  expect((note?.at ?? 0) - (sync?.at ?? 0)).toBeGreaterThanOrEqual(120_000);
  // No lock of a site is left behind.
  expect(await world.caretaker.redis.store.keys('{caretaker}:site:*')).toEqual([]);
});

test('a site locked by a run that no longer exists can be changed again', async () => {
  world = await startWorld({ leaps: false, sites: 1, before: quickSyncs });
  const { store } = world.caretaker.redis;
  await store.hset('{caretaker}:site:default:site-0001', 'a-run-of-old\nsite-0001', '1');

  const run = await world.ended(await world.fire(aPolicy()));

  expect(await world.reasons(run)).toEqual({ 'site-0001': 'done' });
});
