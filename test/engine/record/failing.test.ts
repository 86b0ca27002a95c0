/** Answers that are lost, lists that lag, records that are lost, sites and services that refuse. */
import { describe, expect, test } from 'vitest';
import type { Run } from '../../../src/run/run.ts';
import type { FaultKind } from '../../../src/sandbox/faults.ts';
import { around } from '../../support/between.ts';
import { until, type World } from '../../support/caretaker.ts';
import { sampleOf } from '../../support/sample.ts';
import { call } from '../person.ts';
import {
  DAY_MS,
  emptyRedis,
  entriesOn,
  HOUR_MS,
  linesOn,
  notesOn,
  openWorld,
  recorded,
  recording,
  runAndRecord,
  SITE,
} from './recording.ts';

const policy = recording();

/** The run after everything was tried again for more than a day. */
async function afterRetries(world: World, run: Run): Promise<Run> {
  const { outbox } = world.caretaker.records;
  const { client } = world.caretaker.link('default');
  let underWay = 0;
  around(client, 'call', async (send) => {
    underWay += 1;
    try {
      return await send();
    } finally {
      underWay -= 1;
    }
  });
  for (let leaps = 0; (await outbox.accounts()).length > 0 && leaps < 30; leaps += 1) {
    // A request in the middle of a leap would look as if the process had been suspended.
    while (underWay > 0) await world.clock.sleep(500);
    world.clock.leap(9 * HOUR_MS);
    await world.clock.sleep(20_000);
  }
  return recorded(world, run);
}

/** Runs the policy before and after all records were lost, while nothing works. */
async function runAroundLoss(world: World, meanwhile = () => {}): Promise<Run> {
  const work = async () => {
    const working = world.caretaker.engine.work(20);
    const run = await runAndRecord(world, policy);
    await working.stop();
    return run;
  };
  await work();
  await emptyRedis(world);
  meanwhile();
  return work();
}

/** The long tests try all this with lists that lag too, and every way to lose an answer. */
const lags = [0, 20_000].slice(0, sampleOf(1, 2));
const losses = (
  ['reset-after', 'reset-before', 'error-after', 'garbage'] as const satisfies FaultKind[]
).slice(0, sampleOf(2, 4));

describe.each(lags)('with lists that lag by %i ms', (listLagMs) => {
  test.each(losses)('an answer that is lost (%s) makes no second entry and no second note', async (fault) => {
    const world = await openWorld({ listLagMs });
    for (const operation of ['createSiteCustomWorks', 'createSiteNote'] as const)
      world.sandbox.failNext({ operation }, fault);
    const run = await runAndRecord(world, policy);

    expect(run.recordings).toMatchObject({ wanted: 2, recorded: 2 });
    expect(entriesOn(world)).toHaveLength(1);
    expect(linesOn(world)).toHaveLength(1);
  });

  test('an update of the note whose answer is lost is made once', async () => {
    const world = await openWorld({ listLagMs });
    await runAndRecord(world, policy);
    world.sandbox.failNext({ operation: 'updateSiteNote' }, 'reset-after');
    await runAndRecord(world, policy);

    expect(linesOn(world)).toHaveLength(2);
    expect(world.sandbox.journal.effectsOf('updateSiteNote')).toHaveLength(1);
  });

  test('after Redis was emptied no second entry of the day is made, and the note is found', async () => {
    const world = await openWorld({ listLagMs, work: false });
    const run = await runAroundLoss(world);

    expect(run.recordings).toMatchObject({ wanted: 2, recorded: 2 });
    expect(entriesOn(world)).toHaveLength(1);
    expect(linesOn(world)).toHaveLength(2);
    expect(world.sandbox.journal.countOf('createSiteNote')).toBe(1);
  });
});

test('an answer that is lost makes no second note when the clock of Redis goes forward before the list shows the first', async () => {
  let ahead = 0;
  const world = await openWorld({ speedUp: 60, listLagMs: 20_000, aheadMs: () => ahead });
  world.sandbox.failNext({ operation: 'createSiteNote' }, 'reset-after');
  around(world.caretaker.records.outbox, 'leave', async (leave) => {
    await leave();
    if (world.sandbox.journal.countOf('createSiteNote') > 0) ahead = 10 * 60_000;
  });
  const run = await runAndRecord(world, policy);

  expect(run.recordings).toMatchObject({ wanted: 2, recorded: 2 });
  expect(linesOn(world)).toHaveLength(1);
});

test('two processes that share the work write everything once', async () => {
  const world = await openWorld({ sites: 12 });
  await world.another();
  const run = await runAndRecord(world, policy);

  const { succeeded } = run.counts;
  expect(succeeded).toBeGreaterThan(5);
  expect(run.recordings).toMatchObject({ wanted: 2 * succeeded, recorded: 2 * succeeded });
  expect(world.sandbox.journal.effectsOf('createSiteCustomWorks')).toHaveLength(succeeded);
  expect(world.sandbox.journal.effectsOf('createSiteNote')).toHaveLength(succeeded);
});

test('fields that the service does not show are read from the single view', async () => {
  const world = await openWorld({ work: false });
  await runAroundLoss(world, () => {
    world.sandbox.hide('listSiteCustomWorks', 'description');
    world.sandbox.hide('listSiteNotes', 'content');
  });

  expect(entriesOn(world)).toHaveLength(1);
  expect(linesOn(world)).toHaveLength(2);
});

test('a description that the service never shows is no proof: nothing is made, and this is reported', async () => {
  const world = await openWorld();
  await runAndRecord(world, policy);
  world.sandbox.hide('listSiteCustomWorks', 'description');
  world.sandbox.hide('showSiteCustomWork', 'description');
  const run = await world.fire({ ...policy, name: 'care' });
  await world.ended(run);
  const { records } = world.caretaker;
  await until(world, async () => (await records.outbox.state('default')).oldest?.detail !== undefined);

  const end = await afterRetries(world, run);
  expect(end.recordings).toMatchObject({ wanted: 2, recorded: 1, failed: 1 });
  expect(end.recordings?.first).toMatchObject([
    { kind: 'work', why: expect.stringContaining('custom_work.description') },
  ]);
  expect(entriesOn(world), 'that of the other policy').toHaveLength(1);
});

test('a site that answers with errors is given up after a day, and the others are written at once', async () => {
  // Slow enough that no machine sends a request so late that it is not sent at all.
  const world = await openWorld({ sites: 3, speedUp: 30 });
  const { client } = world.caretaker.link('default');
  const call = client.call.bind(client);
  // The sandbox's faults do not choose a site.
  client.call = (operation, input, options) => {
    const isFor = (input as { site_id?: string }).site_id === SITE;
    if (operation === 'createSiteCustomWorks' && isFor)
      world.sandbox.failNext({ operation: 'createSiteCustomWorks' }, 'error-before');
    return call(operation, input, options);
  };
  const run = await world.fire(policy);
  await world.ended(run);
  world.clock.leap(60_000);
  const { records } = world.caretaker;
  // The site that fails is still due when its note is written: only its entry is missing.
  const allButOne = async () => {
    const { wanted, recorded: written } = (await records.runs.get(run.id))?.recordings ?? {};
    const { waiting } = await records.outbox.state('default');
    return wanted !== undefined && wanted > 2 && written === wanted - 1 && waiting === 1;
  };
  await until(world, allButOne);

  const end = await afterRetries(world, run);
  expect(end.status).toBe('succeeded');
  expect(end.recordings).toMatchObject({ recorded: (end.recordings?.wanted ?? 0) - 1, failed: 1 });
  expect(end.recordings?.first).toMatchObject([
    { site: SITE, kind: 'work', state: 'failed', why: expect.stringContaining('HTTP 500') },
  ]);
});

test('an outage of a day loses nothing', async () => {
  const world = await openWorld();
  const run = await world.fire(policy);
  await world.ended(run);
  world.sandbox.outage.begin('status-503');
  const { records } = world.caretaker;
  await until(world, async () => (await records.outbox.state('default')).oldest?.detail !== undefined);
  world.clock.leap(2 * DAY_MS);
  await until(world, () => world.sandbox.journal.countOf('listSiteCustomWorks') > 6);
  world.sandbox.outage.end();

  expect((await recorded(world, run)).recordings).toMatchObject({ recorded: 2, failed: 0 });
  expect(entriesOn(world)).toMatchObject([{ performedOn: '2026-11-21' }]);
});

test('a site that is removed meanwhile is reported, and changes no outcome', async () => {
  const world = await openWorld();
  const run = await world.fire(policy);
  const ended = await world.ended(run);
  await call(world, 'deleteSite', { site_id: SITE });

  const end = await recorded(world, run);
  expect(end.status).toBe(ended.status);
  expect(end.recordings?.first).toMatchObject([
    { kind: 'work', why: 'The site is no longer in the account.' },
    { kind: 'note', why: 'The site is no longer in the account.' },
  ]);
});

test('what is due is written after a restart', async () => {
  const world = await openWorld({ work: false });
  const working = world.caretaker.engine.work(10);
  const run = await world.fire(policy);
  await world.ended(run);
  await working.stop();
  expect(notesOn(world)).toEqual([]);
  const again = world.caretaker.engine.work(10);

  expect((await recorded(world, run)).recordings).toMatchObject({ recorded: 2 });
  await again.stop();
});
