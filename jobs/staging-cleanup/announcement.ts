/**
 * Announces a change before it is made, in a note on the live site. The last line of the note identifies it.
 *
 * An announcement is stored in its note only. Removing the note cancels the announcement, and another date in
 * the note moves the change. A Caretaker that has lost its records still finds the note.
 */
import { isoMinute, isoTime } from '../../src/clock.ts';
import type { Api, JobApi } from '../../src/job/api.ts';
import { problemWith } from '../../src/job/problem.ts';
import { shown } from '../../src/job/shown.ts';

/** What identifies an announcement. */
export interface AnnouncementId {
  siteId: string;
  /** The text that all announcements of the policy contain. */
  marker: string;
  /** The id of the copy. */
  about: string;
}

export interface Announcement {
  noteId: string;
  /** The earliest time of the change, in milliseconds since 1970; NaN when it cannot be parsed. */
  from: number;
}

/** A time in the format of an announcement's last line, to the second. */
export const formatTimestamp = (ms: number): string => `${isoTime(ms).slice(0, 19)}Z`;

/** A time in the format of texts for people. */
export const formatUtc = (ms: number): string => isoMinute(ms).replace('Z', ' UTC');

/** A note can have 2500 characters, and this leaves room for its last line. */
const MAX_TEXT = 2000;

const lastLineStart = ({ marker, about }: AnnouncementId): string => `[${marker}: ${about} from `;

/**
 * The announcement on the site, if there is one; of several, the one with the latest time. Costs one request
 * per 100 notes with the marker, and one for each of them whose content the list does not show.
 *
 * @throws {NotShownError} when the service does not show the content of one of these notes.
 */
export async function findAnnouncement(
  { all, api }: Pick<JobApi, 'all' | 'api'>,
  id: AnnouncementId,
): Promise<Announcement | undefined> {
  const query = { site_id: id.siteId, filters: { content: { contains: id.marker } } };
  let found: Announcement | undefined;
  for await (const { id: noteId, content } of all('listSiteNotes', query)) {
    const from = announcedTime(content ?? (await contentOf(api, id, noteId)), id);
    if (from === undefined) continue;
    if (!found || Number.isNaN(found.from) || from > found.from) found = { noteId, from };
  }
  return found;
}

/** The content of a note; empty when it is gone. One request. */
async function contentOf(api: Api, { siteId }: AnnouncementId, noteId: string): Promise<string> {
  try {
    const { note } = await api.showSiteNote({ site_id: siteId, note_id: noteId });
    return shown(note.content, 'note.content');
  } catch (error) {
    if (problemWith(error).gone) return '';
    throw error;
  }
}

/** The time in the last line of a note; `undefined` when the note does not contain this announcement. */
function announcedTime(content: string, id: AnnouncementId): number | undefined {
  const at = content.indexOf(lastLineStart(id));
  if (at === -1) return undefined;
  const rest = content.slice(at + lastLineStart(id).length);
  return Date.parse(rest.slice(0, Math.max(0, rest.indexOf(']'))).trim());
}

/**
 * Writes the announcement, into the note of the `old` one if there is one. One effect, `createSiteNote` or
 * `updateSiteNote`. Its intent records the time in the format of `formatTimestamp`.
 */
export async function announce(
  api: Api,
  id: AnnouncementId,
  text: string,
  from: number,
  old?: Announcement,
): Promise<void> {
  const body = {
    note: { content: `${text.slice(0, MAX_TEXT)}\n${lastLineStart(id)}${formatTimestamp(from)}]` },
  };
  if (!old) await api.createSiteNote({ site_id: id.siteId, body }, formatTimestamp(from));
  else await api.updateSiteNote({ site_id: id.siteId, note_id: old.noteId, body }, formatTimestamp(from));
}

/**
 * Changes the note into one that reports the end of the announcement. Gives the service's message when it
 * refuses; a note that is gone is not an error. One effect, `updateSiteNote`.
 */
export async function closeAnnouncement(
  api: Api,
  id: AnnouncementId,
  noteId: string,
  text: string,
): Promise<string | undefined> {
  const content = `${text.slice(0, MAX_TEXT)}\n[${id.marker}: ${id.about}, closed]`;
  try {
    await api.updateSiteNote({ site_id: id.siteId, note_id: noteId, body: { note: { content } } });
    return undefined;
  } catch (error) {
    const { gone, rejected } = problemWith(error);
    if (!gone && !rejected) throw error;
    return rejected?.message;
  }
}

/** Whether a note still contains the announcement. One request. Throws when its content is not shown. */
export const isAnnouncedBy = async (api: Api, id: AnnouncementId, noteId: string): Promise<boolean> =>
  announcedTime(await contentOf(api, id, noteId), id) !== undefined;
