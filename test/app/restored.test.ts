/** A Redis that is restored to an older state, or emptied, while runs are active. */
import { expect, test } from 'vitest';
import { systemClock } from '../../src/clock.ts';
import { keys } from '../../src/records/keys.ts';
import { RECORDS_VERSION } from '../../src/records/migrations/migrations.ts';
import { aGate, around } from '../support/between.ts';
import { aPolicy } from '../support/builders.ts';
import { until, type World } from '../support/caretaker.ts';
import { quickSyncs } from '../support/quick-syncs.ts';
import { worldOfTest } from '../support/world-of-test.ts';
import { notesOf } from './notes.ts';
import { takeSnapshot } from './put-back.ts';

const SITES = 8;
let world: World;

const notes = notesOf('notes');
const noted = () => world.sandbox.journal.effectsOf('createSiteNote').length;
const logged = (pattern: RegExp) => world.log.lines.filter((line) => pattern.test(JSON.stringify(line)));

// A held run that is released: backup.test.ts.
test('a run that was active in the older state is held: nothing is sent again, and cancelling it lists the targets in doubt', async () => {
  world = await worldOfTest({ before: quickSyncs, sites: SITES });
  const { records, engine } = world.caretaker;
  const run = await world.fire(notes);
  await until(world, () => noted() >= 3);
  const { putBack } = await takeSnapshot(world);
  expect(await world.ended(run)).toMatchObject({ status: 'succeeded', counts: { succeeded: SITES } });
  expect(noted()).toBe(SITES);
  await putBack();

  await until(world, async () => (await records.runs.get(run.id))?.held !== undefined);
  const held = await records.runs.get(run.id);
  expect(held?.detail).toContain(`"caretaker runs resume ${run.id} --release" continues it`);
  await until(world, () => logged(/Runs that had not ended are held: 1/).length > 0);
  // Half a minute of the world's time, in which a worker would have continued the run.
  await systemClock.sleep(500);
  expect(noted()).toBe(SITES);

  expect(logged(/Redis was restored to its state of .*: it is not known what was done/)).toHaveLength(1);

  await engine.cancel(run.id);
  const ended = await world.ended(run);
  const reasons = Object.values(await world.reasons(run));
  expect(ended).toMatchObject({ status: 'cancelled', counts: { planned: SITES, cancelled: 0 } });
  expect(new Set(reasons)).toEqual(new Set(['done', 'unknown-effect']));
  expect(noted()).toBe(SITES);
  // Runs that are fired afterwards are not affected.
  const next = await world.fire(notesOf('notes', 'Again.'));
  expect(await world.ended(next)).toMatchObject({ status: 'succeeded' });
});

test('a run that starts in an emptied Redis before that is noticed keeps everything that it records', async () => {
  world = await worldOfTest({ before: quickSyncs, sites: 3 });
  const { records, redis } = world.caretaker;
  const [noticing, claiming] = [aGate(), aGate()];
  around(redis.store, 'hmget', async (read, key) => {
    if (String(key) === keys.schema) await noticing.pass();
    return read();
  });
  around(records.targets, 'claim', async (claim) => {
    await claiming.pass();
    return claim();
  });

  await redis.store.flushall();
  const next = await world.fire(aPolicy({ name: 'next' }));
  // Its records have no version yet: they get it while the targets are worked on.
  await claiming.reached;
  noticing.open();
  claiming.open();
  expect(await world.ended(next)).toMatchObject({ status: 'succeeded' });

  await until(world, async () => Number(await redis.store.hget(keys.schema, 'migrated')) === RECORDS_VERSION);
  expect(new Set((await world.targets(next)).map(({ state }) => state))).toEqual(new Set(['ended']));
  await until(world, () => logged(/Redis was emptied/).length > 0);
  const later = await world.fire(aPolicy({ name: 'later' }));
  expect(await world.ended(later)).toMatchObject({ status: 'succeeded' });
  expect(logged(/Redis was emptied/), 'it is reported once').toHaveLength(1);
});
