/** Notes on a site and their earlier versions (spec 4.17). */
import type { Note as ShownNote, NoteVersion as ShownVersion } from '../../contract/operations/notes.ts';
import type { Note, NoteVersion, Person, SiteNotes } from '../model/account.ts';
import type { Site } from '../model/site.ts';
import type { World } from '../model/world.ts';
import { idOf, randomFrom, seedOf } from '../world/numbers.ts';
import { DAY, HOUR } from '../world/time.ts';
import { type Handler, itemIn, lists, shown, siteOf } from './handler.ts';

/** The views of a note and its earlier versions (spec 2.19). */
export const noteView = (note: Note): ShownNote => ({
  id: note.id,
  content: note.content,
  user: { ...note.user },
  versions: { available: note.versions.length > 0 },
  created_at: shown(note.createdAt),
  updated_at: shown(note.updatedAt),
});

/** Both timestamps of a version are the time when its content was written. */
export const noteVersionView = (version: NoteVersion): ShownVersion => ({
  id: version.id,
  content: version.content,
  user: { ...version.user },
  created_at: shown(version.at),
  updated_at: shown(version.at),
});

// Notes on a site and their earlier versions (spec 2.19).

/** The notes of a site. Those from before the sandbox started are generated at the first request. */
export function notesOf(world: World, site: Site): SiteNotes {
  const known = world.notes.get(site.id);
  if (known) return known;
  const made: SiteNotes = { made: 0, notes: new Map() };
  world.notes.set(site.id, made);
  if (site.createdAt >= world.startedAt) return made;
  const random = randomFrom(seedOf(world.seed, `notes ${site.number}`));
  for (let count = random.between(0, 2); count > 0; count -= 1) {
    const at = Math.max(site.createdAt, world.startedAt - count * 12 * DAY - random.between(1, 23) * HOUR);
    const note = writeNote(made, site, random.pick(oldNotes), world.caller, at);
    if (random.next() < 0.5) rewriteNote(note, random.pick(oldNotes), world.caller, at + 2 * HOUR);
  }
  return made;
}

const oldNotes = [
  'The client wants to hear of updates a day before.',
  'Ask Ines before changing the theme.',
  'The shop is busiest on Fridays.',
  'The contact form goes to two addresses.',
] as const;

export function writeNote(on: SiteNotes, site: Site, content: string, user: Person, at: number): Note {
  on.made += 1;
  const id = `${idOf('note', site.number)}-${String(on.made).padStart(3, '0')}`;
  const note: Note = { id, content, user, versions: [], createdAt: at, updatedAt: at };
  on.notes.set(id, note);
  return note;
}

/** Changes the content. The previous content becomes a version. */
export function rewriteNote(note: Note, content: string, user: Person, at: number): void {
  const { versions } = note;
  const id = `${note.id}-v${versions.length + 1}`;
  versions.push({ id, content: note.content, user: note.user, at: note.updatedAt });
  Object.assign(note, { content, user, updatedAt: at });
}

const notesOn = (world: World, siteId: string) => notesOf(world, siteOf(world, siteId));

const noteOf = (world: World, params: { site_id: string; note_id: string }): Note =>
  itemIn(notesOn(world, params.site_id).notes, 'note', params.note_id);

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
