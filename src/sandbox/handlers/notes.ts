/** Notes on a site and their earlier versions (spec 4.17). */

import type { Note } from '../model/account.ts';
import type { World } from '../model/world.ts';
import { notFound } from '../refusal.ts';
import { noteVersionView, noteView } from '../views/account.ts';
import { notesOf, rewriteNote, writeNote } from '../world/notes.ts';
import { type Handler, lists } from './handler.ts';
import { siteOf } from './lookup.ts';

const notesOn = (world: World, siteId: string) => notesOf(world, siteOf(world, siteId));

function noteOf(world: World, params: { site_id: string; note_id: string }): Note {
  const note = notesOn(world, params.site_id).notes.get(params.note_id);
  if (!note) throw notFound('note', params.note_id);
  return note;
}

export const listSiteNotes = lists<'listSiteNotes', Note>({
  items: ({ world, params }) => notesOn(world, params.site_id).notes.values(),
  fields: {
    user_email: ({ user }) => user.email,
    content: (note) => note.content,
    created_at: (note) => note.createdAt,
    updated_at: (note) => note.updatedAt,
  },
  view: noteView,
});

export const createSiteNote: Handler<'createSiteNote'> = ({ world, now, params, body, changed }) => {
  const site = siteOf(world, params.site_id);
  const note = writeNote(notesOf(world, site), site, body.note.content, world.caller, now);
  changed(note.id);
  return { note: noteView(note) };
};

export const showSiteNote: Handler<'showSiteNote'> = ({ world, params }) => ({
  note: noteView(noteOf(world, params)),
});

export const updateSiteNote: Handler<'updateSiteNote'> = ({ world, now, params, body, changed }) => {
  const note = noteOf(world, params);
  rewriteNote(note, body.note.content, world.caller, now);
  changed(note.id);
  return { note: noteView(note) };
};

export const deleteSiteNote: Handler<'deleteSiteNote'> = ({ world, params, changed }) => {
  const note = noteOf(world, params);
  notesOn(world, params.site_id).notes.delete(note.id);
  changed(note.id);
};

export const listSiteNoteVersions: Handler<'listSiteNoteVersions'> = ({ world, params }) => ({
  versions: noteOf(world, params).versions.toReversed().map(noteVersionView),
});
