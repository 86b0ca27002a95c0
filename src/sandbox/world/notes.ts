/** Notes on a site and their earlier versions (spec 2.19). */

import type { Note, Person, SiteNotes } from '../model/account.ts';
import type { Site } from '../model/site.ts';
import type { World } from '../model/world.ts';
import { idOf } from './ids.ts';
import { randomFrom, seedOf } from './random.ts';
import { DAY, HOUR } from './service-time.ts';

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
