/**
 * What is written to a site, interrupted at each of its steps by a worker in its own process that dies there
 * (SIGKILL). Another worker takes over, and everything is written once.
 */
import { afterEach, expect, test } from 'vitest';
import { dieAt, endDying, steps } from '../../support/dying.ts';
import { entriesOn, linesOn, openWorld, recorded, recording, runAndRecord } from './recording.ts';

const policy = recording();
type Operation = 'createSiteCustomWorks' | 'createSiteNote' | 'updateSiteNote';

afterEach(endDying);

const all: Operation[] = ['createSiteNote', 'createSiteCustomWorks', 'updateSiteNote'];

test.each(all)('%s, killed at each step, is made once for each site', async (operation) => {
  // Slow enough that a process starts within the time limit of a run.
  const world = await openWorld({ sites: 7, speedUp: 60, work: false });
  const { engine } = world.caretaker;
  const isUpdate = operation === 'updateSiteNote';
  if (isUpdate) {
    const working = engine.work(20);
    await runAndRecord(world, policy);
    await working.stop();
  }
  const running = engine.work(20);
  const run = await world.fire(policy);
  const { counts } = await world.ended(run);
  await running.stop();
  expect(counts.succeeded).toBeGreaterThanOrEqual(steps.length);

  for (const step of steps) await dieAt(world, step, operation);
  const working = engine.work(20);
  const end = await recorded(world, run);
  await working.stop();

  expect(end.recordings).toMatchObject({ failed: 0, left: 0, recorded: end.recordings?.wanted });
  const done = (await world.targets(run)).filter(({ outcome }) => outcome === 'succeeded');
  for (const { id } of done) {
    expect(entriesOn(world, id), id).toHaveLength(1);
    expect(linesOn(world, id), id).toHaveLength(isUpdate ? 2 : 1);
  }
  const effects = world.sandbox.journal.effectsOf(operation);
  expect(new Set(effects).size, 'no effect happened twice').toBe(effects.length);
});
