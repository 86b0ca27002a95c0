/** Force-ending a run: open targets get their outcome at once, and no process does anything more for it. */
import { afterEach, expect, test } from 'vitest';
import { aPolicy } from '../support/builders.ts';
import { startWorld, until, type World } from '../support/caretaker.ts';

let world: World;
afterEach(() => world.stop());

const slowly = { concurrency: 4, maxTargets: 1000, maxPercent: 100 };

async function inFlight() {
  world = await startWorld({ sites: 12, work: false });
  for (const id of world.sandbox.siteIds()) world.sandbox.site(id).syncTakes(3_600_000);
  const fired = await world.fire(aPolicy({ limits: slowly }));
  const working = world.caretaker.engine.work(50);
  const { targets } = world.caretaker.records;
  await until(world, async () => (await targets.inState(fired.id, 'following', 100)).length === 4);
  return { fired, working };
}

test('a run that no process works on ends at once, with a separate reason for work in flight in the service', async () => {
  const { fired, working } = await inFlight();
  await working.stop();

  const run = await world.caretaker.engine.forceEnd(fired.id);

  expect(run).toMatchObject({ status: 'cancelled', counts: { planned: 12, cancelled: 12 } });
  const targets = await world.targets(run);
  const underWay = targets.filter(({ detail }) => detail === 'It was still under way in the service.');
  expect(underWay).toHaveLength(4);
  expect(new Set(targets.map(({ reason }) => reason))).toEqual(new Set(['run-cancelled']));
  const counts = await world.caretaker.queues.counts();
  for (const count of Object.values(counts)) expect(count).toEqual({ waiting: 0, active: 0 });
});

test('while other processes are active, they send and write nothing more for it', async () => {
  const { fired, working } = await inFlight();

  await world.caretaker.engine.forceEnd(fired.id);

  const before = await world.targets(fired);
  const sent = world.sandbox.journal.effectsOf('syncSite').length;
  for (const id of new Set(world.sandbox.journal.effectsOf('syncSite'))) world.sandbox.site(id).finishSync();
  await world.clock.sleep(30_000);
  expect(world.sandbox.journal.effectsOf('syncSite')).toHaveLength(sent);
  expect(await world.targets(fired)).toEqual(before);
  await working.stop();
});

test('an effect whose answer is not known yet ends as unknown, not as cancelled', async () => {
  world = await startWorld({ sites: 1 });
  world.sandbox.failNext({ operation: 'syncSite' }, 'reset-after');
  const fired = await world.fire(aPolicy());
  const [site = ''] = world.sandbox.siteIds();
  const { targets } = world.caretaker.records;
  await until(world, async () => (await targets.get(fired.id, site))?.intent !== undefined);

  await world.caretaker.engine.forceEnd(fired.id);

  const [target] = await world.targets(fired);
  expect(target).toMatchObject({
    outcome: 'failed',
    reason: 'unknown-effect',
    detail: 'The run was ended before the answer to syncSite was known.',
  });
});

test('a run that was only queued ends at once, and is not planned later', async () => {
  world = await startWorld({ sites: 3, work: false });
  const fired = await world.fire(aPolicy());

  expect(await world.caretaker.engine.forceEnd(fired.id)).toMatchObject({ status: 'cancelled' });

  expect(await world.caretaker.queues.counts()).toMatchObject({ plans: { waiting: 0, active: 0 } });
  await expect(world.caretaker.engine.forceEnd(fired.id)).rejects.toThrow(/has already ended: cancelled/);
});
