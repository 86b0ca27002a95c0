/** Announcements in cases that are rare: long notes, and renewals that were interrupted. */
import { expect, test } from 'vitest';
import { RejectedError } from '../../../src/client/errors.ts';
import { hashOfNote } from '../../../src/job/grace/announcement.ts';
import { around } from '../../support/between.ts';
import type { World } from '../../support/caretaker.ts';
import { deletionAfter } from '../../support/old-copies.ts';
import { worldOfTest } from '../../support/world-of-test.ts';

const DAY = 86_400_000;
let world: World;

const deletion = (where?: string) => deletionAfter('1d', where);
const nothing = deletion('staging.id == "another"');

async function reasonsOf(policy: ReturnType<typeof deletion>) {
  return world.reasons(await world.ended(await world.fire(policy)));
}

async function announced(): Promise<string> {
  world = await worldOfTest({ sites: 1 });
  world.sandbox.staging.clear();
  const copy = world.sandbox.staging.make('site-0001', 15);
  expect(await reasonsOf(deletion())).toEqual({ [copy]: 'announced' });
  return copy;
}

const ownNotes = () =>
  world.sandbox
    .site('site-0001')
    .notes()
    .filter((content) => content.includes('old-copies'));

test('a note counts as unchanged when the service changed its line ends or the space around it', () => {
  expect(hashOfNote(' one\r\ntwo\n')).toBe(hashOfNote('one\ntwo'));
  expect(hashOfNote('one\ntwo!')).not.toBe(hashOfNote('one\ntwo'));
});

test('an edited note without room for another sentence is marked as closed all the same', async () => {
  const copy = await announced();
  world.sandbox.site('site-0001').changeNotes((content) => content.padStart(2_500, '.'));

  await reasonsOf(nothing);

  const [note = ''] = ownNotes();
  expect(note.length).toBeLessThanOrEqual(2_500);
  expect(note).not.toContain('Withdrawn on');
  expect(note.endsWith(`[caretaker old-copies: deleteStagingSite ${copy}, closed]`)).toBe(true);
});

test('a new announcement that could not be written does not let the old one count again', async () => {
  const copy = await announced();
  const refused = new Set(['deleteSiteNote']);
  around(world.caretaker.link('default').client, 'call', async (send, asked) => {
    if (refused.has(asked)) throw new RejectedError(asked, 422, { message: 'The site is locked.' });
    return send();
  });
  expect(Object.values(await reasonsOf(nothing))).toEqual(['rejected']);
  // By now the date of the note has passed, and a run in between did not select the copy.
  world.clock.leap(1.5 * DAY);
  refused.add('updateSiteNote');
  expect(await reasonsOf(deletion())).toEqual({ [copy]: 'rejected' });
  refused.clear();

  expect(await reasonsOf(deletion())).toEqual({ [copy]: 'announced' });
  expect(world.sandbox.journal.countOf('deleteStagingSite')).toBe(0);
  expect(ownNotes()).toHaveLength(1);
});
