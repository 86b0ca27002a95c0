import { describe, expect, test } from 'vitest';
import { apiCall } from '../../../jobs/api-call/job.ts';
import { stagingCleanup } from '../../../jobs/staging-cleanup/job.ts';
import { aSchedule } from '../../support/builders.ts';
import { until } from '../../support/caretaker.ts';
import { call, untilFollowed } from '../person.ts';
import {
  DAY_MS,
  entriesOn,
  HOUR_MS,
  linesOn,
  noteIdOn,
  notesOn,
  openWorld,
  recorded,
  recording,
  runAndRecord,
  SITE,
} from './recording.ts';

test('a site whose work was done gets one entry of the day and one living note, with a line of each run beside the words of a person', async () => {
  // Slow enough that no request counts as lost on a busy machine: it would be looked for.
  const world = await openWorld({ speedUp: 60 });
  const run = await runAndRecord(world, recording());

  expect(run.recordings).toMatchObject({ wanted: 2, recorded: 2, failed: 0, left: 0, requests: 4 });
  const entries = [
    {
      title: 'Monthly maintenance',
      description: expect.stringMatching(/^Ref\. [0-9A-Z]{8}$/),
      performedOn: '2026-11-21',
    },
  ];
  expect(entriesOn(world)).toEqual(entries);
  expect(linesOn(world)).toEqual([expect.stringMatching(/^2026-11-21 12:\d\dZ done \(20261121T/)]);

  const content = `Ask Ines first.\n${notesOn(world)[0]}\nThe shop is busy on Fridays.`;
  const path = { site_id: SITE, note_id: await noteIdOn(world) };
  await call(world, 'updateSiteNote', { ...path, body: { note: { content } } });
  const second = await runAndRecord(world, recording());

  expect(second.recordings).toMatchObject({ wanted: 2, recorded: 2, requests: 2 });
  expect(entriesOn(world)).toEqual(entries);
  expect(world.sandbox.journal.countOf('createSiteCustomWorks')).toBe(1);
  expect(linesOn(world)).toHaveLength(2);
  expect(notesOn(world)[0]).toMatch(/^Ask Ines first\.\n\[Caretaker/);
  expect(notesOn(world)[0]).toMatch(/replaced\.\]\nThe shop is busy on Fridays\.$/);
});

test('a failed sync is a line in the note, and no custom work', async () => {
  const world = await openWorld();
  world.sandbox.site(SITE).failNextSync('disk full');
  const run = await runAndRecord(world, recording());

  expect(run.recordings).toMatchObject({ wanted: 1, recorded: 1 });
  expect(entriesOn(world)).toEqual([]);
  expect(linesOn(world)[0]).toMatch(
    /Z failed: The work was started, and the service reports that it failed\. \(/,
  );
});

test('a site on which nothing was changed gets neither', async () => {
  const world = await openWorld();
  world.sandbox.site(SITE).syncTakes(DAY_MS);
  world.sandbox.site(SITE).startSync();
  const adopted = await world.fire(recording());
  await untilFollowed(world, adopted, 1);
  world.sandbox.site(SITE).finishSync();
  await world.ended(adopted);
  expect(await world.reasons(adopted)).toEqual({ [SITE]: 'adopted' });
  const reading = {
    job: 'api-call',
    select: { from: 'listSites' as const, filters: {} },
    options: apiCall.options.parse({ operation: 'showSite' }),
  };
  const read = await world.fire(recording(reading));
  await world.ended(read);

  expect((await world.ended(adopted)).recordings).toBeUndefined();
  expect((await world.ended(read)).recordings).toBeUndefined();
  expect(await world.caretaker.records.outbox.accounts()).toEqual([]);
});

test('several targets of one site in one run make one entry and one line', async () => {
  const world = await openWorld();
  world.sandbox.staging.clear();
  for (const days of [12, 13]) world.sandbox.staging.make(SITE, days);
  const options = stagingCleanup.options.parse({ action: 'extend', expires_within: '5d', days: 7 });
  const run = await runAndRecord(world, recording({ job: 'staging-cleanup', options }));

  expect(run.counts.succeeded).toBe(2);
  expect(run.recordings).toMatchObject({ wanted: 2, recorded: 2 });
  expect(entriesOn(world)).toHaveLength(1);
  expect(linesOn(world)).toEqual([expect.stringMatching(/Z 2 done \(/)]);
});

test('entries of several policies of a site are made with one request', async () => {
  const world = await openWorld({ speedUp: 10 });
  const noting = (name: string) =>
    recording({
      name,
      job: 'api-call',
      select: { from: 'listSites', filters: {} },
      options: apiCall.options.parse({ operation: 'createSiteNote', body: { note: { content: name } } }),
      record: { customWork: { title: name } },
    });
  const runs = [await world.fire(noting('care')), await world.fire(noting('hosting'))];
  for (const run of runs) await world.ended(run);
  world.clock.leap(60_000);
  for (const run of runs) expect((await recorded(world, run)).recordings).toMatchObject({ recorded: 1 });

  // Either run may end first.
  expect(
    entriesOn(world)
      .map(({ title }) => title)
      .sort(),
  ).toEqual(['care', 'hosting']);
  expect(world.sandbox.journal.countOf('createSiteCustomWorks')).toBe(1);
});

test('the texts of an entry have the values of the site, the run and the outcome, cut at the limits', async () => {
  const world = await openWorld();
  world.sandbox.site(SITE).isCalled({ title: `Shop ${'ö'.repeat(200)}` });
  const customWork = {
    title: '{{site.title}}',
    description: '{{run.policy}} on {{run.date}}: {{outcome.targets}} done, {{site.tags[99].name}}',
  };
  await runAndRecord(world, recording({ record: { customWork } }));

  const [entry] = entriesOn(world);
  expect(entry?.title).toHaveLength(150);
  expect(entry?.title).toMatch(/^Shop ö+…$/);
  expect(entry?.description).toMatch(/^nightly-sync on 2026-11-21: 1 done, \(no value\)\nRef\. [0-9A-Z]{8}$/);
});

test('the day of an entry is that of the schedule, and an entry waits until the service takes the day', async () => {
  // 00:30 on Sunday in Auckland.
  const world = await openWorld({ from: Date.parse('2026-11-21T11:30:00Z') });
  const schedule = aSchedule({ timezone: 'Pacific/Auckland' });
  const run = await world.fire(recording({ schedule, record: { customWork: { title: 'Care' } } }));
  await world.ended(run);
  const { outbox } = world.caretaker.records;
  await until(world, async () => (await outbox.state('default')).oldest?.detail !== undefined);

  expect((await outbox.state('default')).oldest?.detail).toContain('2026-11-22 has not begun in UTC');
  expect(world.sandbox.journal.countOf('createSiteCustomWorks')).toBe(0);
  world.clock.leap(12.5 * HOUR_MS);
  expect((await recorded(world, run)).recordings).toMatchObject({ recorded: 1 });
  expect(entriesOn(world)).toMatchObject([{ performedOn: '2026-11-22' }]);
});

describe('a person', () => {
  test('who deletes the note gets no other for 90 days', async () => {
    const world = await openWorld();
    const policy = recording({ record: { note: 'living' } });
    await runAndRecord(world, policy);
    await call(world, 'deleteSiteNote', { site_id: SITE, note_id: await noteIdOn(world) });
    const left = await runAndRecord(world, policy);
    const again = await runAndRecord(world, policy);

    expect(left.recordings).toMatchObject({ wanted: 1, recorded: 0, failed: 0, left: 1 });
    expect(left.recordings?.first).toMatchObject([
      { kind: 'note', state: 'left', why: expect.stringContaining('is not made again before 2027-02-19') },
    ]);
    expect(again.recordings).toMatchObject({ left: 1, requests: 0 });
    expect(notesOn(world)).toEqual([]);
    world.clock.leap(91 * DAY_MS);
    expect((await runAndRecord(world, policy)).recordings).toMatchObject({ recorded: 1 });
    expect(linesOn(world)).toHaveLength(1);
  });

  test('who deletes an entry gets no other for that day', async () => {
    const world = await openWorld();
    const policy = recording({ record: { customWork: { title: 'Care' } } });
    await runAndRecord(world, policy);
    const { custom_works } = await call(world, 'listSiteCustomWorks', { site_id: SITE });
    for (const { id, title } of custom_works)
      if (title === 'Care') await call(world, 'deleteSiteCustomWork', { site_id: SITE, custom_work_id: id });
    await runAndRecord(world, policy);

    expect(entriesOn(world)).toEqual([]);
  });
});
