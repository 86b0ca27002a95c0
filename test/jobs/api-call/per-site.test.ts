/** Calls about the items of lists that each site has: notes and custom work are changed and deleted. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Policy } from '../../../src/policy/policy.ts';
import { startWorld, type World } from '../../support/caretaker.ts';
import { asPerson, justBefore } from '../acting.ts';
import { callOf } from './policies.ts';

let world: World;
beforeEach(async () => {
  world = await startWorld({ sites: 5, speedUp: 5 });
});
afterEach(() => world.stop());

const call = asPerson(() => world);

const writeNote = async (site_id: string, content: string): Promise<string> =>
  (await call('createSiteNote', { site_id, body: { note: { content } } })).note.id;

const notesOf = async (site_id: string) => {
  const { notes } = await call('listSiteNotes', { site_id });
  return Object.fromEntries(notes.map(({ id, content }) => [id, content]));
};

async function carriedOut(policy: Policy, only?: string[]) {
  const run = await world.ended(await world.fire(policy, only));
  const targets = await world.targets(run);
  return {
    run,
    targets,
    ends: Object.fromEntries(
      targets.map(({ id, outcome, reason, detail }) => [id, [outcome, reason, detail]]),
    ),
  };
}

const outdated = { from: 'listSiteNotes', for_each: 'listSites', where: 'note.content.contains("outdated")' };
const deletion = callOf.bind(undefined, outdated, { operation: 'deleteSiteNote', confirm: 'deleteSiteNote' });

test('notes are deleted: site and note are filled in, and the site of each is held', async () => {
  const [a = '', b = ''] = world.sandbox.siteIds();
  const first = await writeNote(a, 'outdated');
  const second = await writeNote(b, 'outdated');
  const kept = await writeNote(b, 'Call before updates.');

  const { ends, targets, run } = await carriedOut(deletion());

  expect(ends).toEqual({
    [`${a}/${first}`]: ['succeeded', 'done', undefined],
    [`${b}/${second}`]: ['succeeded', 'done', undefined],
  });
  expect(targets.map(({ site }) => site).sort()).toEqual([a, b].sort());
  expect(await notesOf(a)).not.toHaveProperty(first);
  expect(await notesOf(b)).toHaveProperty(kept);
  // The sites, five lists, and for each note a look and the call.
  expect(run.requestsByOperation).toMatchObject({
    listSites: 1,
    listSiteNotes: 5,
    showSiteNote: 2,
    deleteSiteNote: 2,
  });
  expect(world.sandbox.journal.countOf('deleteSiteNote')).toBe(2);
});

test('a note is updated with values of the note and of its site', async () => {
  const [a = ''] = world.sandbox.siteIds();
  const id = await writeNote(a, 'outdated');
  const { sites } = await call('listSites', {});
  const url = sites.find((site) => site.id === a)?.url;

  const { ends } = await carriedOut(
    callOf(outdated, {
      operation: 'updateSiteNote',
      body: { note: { content: { cel: 'site.url + ": " + note.content' } } },
    }),
  );

  expect(ends[`${a}/${id}`]).toEqual(['succeeded', 'done', undefined]);
  expect((await notesOf(a))[id]).toBe(`${url}: outdated`);
});

test('a note that somebody edits after the plan is left as it is', async () => {
  const [a = ''] = world.sandbox.siteIds();
  const id = await writeNote(a, 'outdated');
  justBefore(world, 'showSiteNote', async () => {
    await world.clock.sleep(2_000);
    await call('updateSiteNote', { site_id: a, note_id: id, body: { note: { content: 'New, keep it.' } } });
  });

  const { ends } = await carriedOut(deletion());

  const why = 'It has changed since the plan was made.';
  expect(ends).toEqual({ [`${a}/${id}`]: ['skipped', 'not-eligible', why] });
  expect((await notesOf(a))[id]).toBe('New, keep it.');
});

test('a note that is deleted after the plan is already gone, also directly before the call', async () => {
  const [a = ''] = world.sandbox.siteIds();
  const first = await writeNote(a, 'outdated');
  justBefore(world, 'showSiteNote', () => call('deleteSiteNote', { site_id: a, note_id: first }));
  expect((await carriedOut(deletion())).ends).toMatchObject({
    [`${a}/${first}`]: ['succeeded', 'already-done', undefined],
  });

  const second = await writeNote(a, 'outdated');
  justBefore(world, 'deleteSiteNote', () => call('deleteSite', { site_id: a }));
  expect((await carriedOut(deletion())).ends).toMatchObject({
    [`${a}/${second}`]: ['succeeded', 'already-done', undefined],
  });
});

test('an update finds a note that is gone, with its site or without it', async () => {
  const [a = '', b = ''] = world.sandbox.siteIds();
  const first = await writeNote(a, 'outdated');
  const update = () =>
    callOf(outdated, { operation: 'updateSiteNote', body: { note: { content: { cel: 'site.url' } } } });
  justBefore(world, 'showSiteNote', () => call('deleteSiteNote', { site_id: a, note_id: first }));
  expect((await carriedOut(update())).ends).toMatchObject({
    [`${a}/${first}`]: ['skipped', 'gone', undefined],
  });

  const second = await writeNote(b, 'outdated');
  justBefore(world, 'updateSiteNote', () => call('deleteSite', { site_id: b }));
  expect((await carriedOut(update())).ends).toMatchObject({
    [`${b}/${second}`]: ['skipped', 'gone', undefined],
  });
});

test('an entry of custom work whose update was made although its answer was lost is not taken for a foreign change', async () => {
  const [a = ''] = world.sandbox.siteIds();
  const body = { custom_works: [{ title: 'Logo', performed_on: '2026-11-20' }] };
  const { custom_works } = await call('createSiteCustomWorks', { site_id: a, body });
  const id = custom_works[0]?.id ?? '';
  world.sandbox.failNext({ operation: 'updateSiteCustomWork' }, 'reset-after');

  const { ends } = await carriedOut(
    callOf(
      { from: 'listSiteCustomWorks', for_each: 'listSites', where: 'custom_work.title == "Logo"' },
      {
        operation: 'updateSiteCustomWork',
        body: { custom_work: { title: { cel: 'custom_work.title + " replaced"' } } },
      },
      { retry: { delay: '1s' } },
    ),
  );

  expect(ends[`${a}/${id}`]?.[0]).toBe('succeeded');
  const { custom_work } = await call('showSiteCustomWork', { site_id: a, custom_work_id: id });
  expect(custom_work.title).toBe('Logo replaced');
});

test('max_percent counts the items of all lists that are read, filtered or not', async () => {
  const [a = '', b = ''] = world.sandbox.siteIds();
  for (const content of ['outdated', 'one', 'two', 'three']) await writeNote(a, content);
  await writeNote(b, 'outdated too');
  const call = { operation: 'deleteSiteNote', confirm: 'deleteSiteNote' };
  const all = await world.caretaker.engine.preview(
    callOf({ from: 'listSiteNotes', for_each: 'listSites' }, call),
  );
  const total = all.targets.length;
  const percent = Math.floor((2 / total) * 100);
  const limits = { limits: { max_percent: `${percent - 1}%` } };
  const filtered = {
    from: 'listSiteNotes',
    for_each: 'listSites',
    filters: { content: { contains: 'outdated' } },
  };

  const unfiltered = await world.caretaker.engine.preview(callOf(outdated, call, limits));
  const byService = await world.caretaker.engine.preview(callOf(filtered, call, limits));

  const stopped = `2 of ${total} targets are more than limits.max_percent (${percent - 1}%) allows.`;
  expect([unfiltered.stoppedBy, byService.stoppedBy]).toEqual([stopped, stopped]);
  // Without a filter the plan has seen all of them; with one, they are counted list by list.
  expect([unfiltered.cost.planning, byService.cost.planning]).toEqual([6, 12]);
});

test('once is kept for each item of each site', async () => {
  const [a = '', b = ''] = world.sandbox.siteIds();
  await writeNote(a, 'outdated');
  await writeNote(b, 'outdated');
  const policy = callOf(outdated, {
    operation: 'createSiteNote',
    body: { note: { content: { cel: '"About: " + note.id' } } },
    once: '{{note.id}}-{{site.id}}',
  });

  const first = await carriedOut(policy);
  const second = await carriedOut(policy);

  expect(first.targets.map(({ reason }) => reason)).toEqual(['done', 'done']);
  const reasons = second.targets.filter(({ id }) => id in first.ends).map(({ reason }) => reason);
  expect(reasons).toEqual(['already-done', 'already-done']);
});
