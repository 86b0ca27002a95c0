/**
 * A change that is announced before it is made: in a note on the site it concerns, found again by its last
 * line.
 *
 * The note is all there is to it. Whoever removes it takes the announcement back, whoever writes another date
 * into it moves the change, and a Caretaker that has lost its records finds it as well as any other.
 */
import { isoMinute, isoTime } from '../../src/clock.ts';
import type { Api, JobApi } from '../../src/job/api.ts';
import { problemWith } from '../../src/job/problem.ts';
import { shown } from '../../src/job/shown.ts';

/**
 * What announcements are recognised by: a text that all of a kind have in common, and what this one is about.
 */
export interface Mark {
  siteId: string;
  marker: string;
  about: string;
}

export interface Announcement {
  noteId: string;
  /**
   * The moment before which nothing may happen, in milliseconds since 1970; not a number when it cannot be
   * read.
   */
  from: number;
}

/** A moment as announcements have it, to the second. */
export const toMoment = (ms: number): string => `${isoTime(ms).slice(0, 19)}Z`;

/** A moment as people read it in announcements. */
export const inUtc = (ms: number): string => isoMinute(ms).replace('Z', ' UTC');

/** A note holds 2500 characters, the last line included. */
const MAX_TEXT = 2000;

const begin = ({ marker, about }: Mark): string => `[${marker}: ${about} from `;

/**
 * The announcement on the site, if there is one; of several, the one that leaves most time. One request per
 * 100 notes that have the marker, and one for each of them whose content the list does not show.
 *
 * @throws {NotShownError} when the service does not show the content of one of them at all.
 */
export async function findAnnouncement(
  { all, api }: Pick<JobApi, 'all' | 'api'>,
  mark: Mark,
): Promise<Announcement | undefined> {
  const query = { site_id: mark.siteId, filters: { content: { contains: mark.marker } } };
  let found: Announcement | undefined;
  for await (const { id, content } of all('listSiteNotes', query)) {
    const from = announcedIn(content ?? (await contentOf(api, mark, id)), mark);
    if (from === undefined) continue;
    if (!found || Number.isNaN(found.from) || from > found.from) found = { noteId: id, from };
  }
  return found;
}

/** What a note holds; empty when it is gone. One request. */
async function contentOf(api: Api, { siteId }: Mark, noteId: string): Promise<string> {
  try {
    const { note } = await api.showSiteNote({ site_id: siteId, note_id: noteId });
    return shown(note.content, 'note.content');
  } catch (error) {
    if (problemWith(error).gone) return '';
    throw error;
  }
}

/** From when on a note's content announces it; nothing when it does not. */
function announcedIn(content: string, mark: Mark): number | undefined {
  const at = content.indexOf(begin(mark));
  if (at === -1) return undefined;
  const rest = content.slice(at + begin(mark).length);
  return Date.parse(rest.slice(0, Math.max(0, rest.indexOf(']'))).trim());
}

/**
 * Writes the announcement, into the note of an `old` one if there is one. One effect, `createSiteNote` or
 * `updateSiteNote`; its intent notes the moment as `toMoment` has it.
 */
export async function announce(
  api: Api,
  mark: Mark,
  text: string,
  from: number,
  old?: Announcement,
): Promise<void> {
  const body = { note: { content: `${text.slice(0, MAX_TEXT)}\n${begin(mark)}${toMoment(from)}]` } };
  if (!old) await api.createSiteNote({ site_id: mark.siteId, body }, toMoment(from));
  else await api.updateSiteNote({ site_id: mark.siteId, note_id: old.noteId, body }, toMoment(from));
}

/**
 * Has the note say what became of its announcement. A note that is gone is fine; gives the service's words
 * when it refuses. One effect, `updateSiteNote`.
 */
export async function closeAnnouncement(
  api: Api,
  mark: Mark,
  noteId: string,
  text: string,
): Promise<string | undefined> {
  const content = `${text.slice(0, MAX_TEXT)}\n[${mark.marker}: ${mark.about}, closed]`;
  try {
    await api.updateSiteNote({ site_id: mark.siteId, note_id: noteId, body: { note: { content } } });
    return undefined;
  } catch (error) {
    const { gone, rejected } = problemWith(error);
    if (!gone && !rejected) throw error;
    return rejected?.message;
  }
}

/** Whether a note still announces it. One request. Throws when the service does not show what it holds. */
export const isAnnouncedBy = async (api: Api, mark: Mark, noteId: string): Promise<boolean> =>
  announcedIn(await contentOf(api, mark, noteId), mark) !== undefined;
