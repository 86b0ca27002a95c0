/**
 * The note on a site that announces a change before it is made. The last line of the note identifies it.
 *
 * The note decides: removing it cancels the change, and another date in it moves the change. A Caretaker that
 * has lost its records still finds the note.
 */
import { createHash } from 'node:crypto';
import { isoMinute, isoTime } from '../../clock.ts';
import type { Api, JobApi } from '../api.ts';
import { problemWith } from '../problem.ts';
import { shown } from '../shown.ts';

/** The operations with which changes are announced, for `changes` of a job. */
export const announcingChanges = ['createSiteNote', 'updateSiteNote', 'deleteSiteNote'] as const;

/** What identifies an announcement. */
export interface AnnouncementId {
  siteId: string;
  /** The text that all announcements of the policy contain; it has no bracket and no line break. */
  marker: string;
  /** What the change is about, such as the id of a copy. */
  about: string;
}

export interface Announcement {
  noteId: string;
  /** The earliest time of the change, in milliseconds since 1970; NaN when it cannot be parsed. */
  from: number;
  content: string;
}

/** A time in the format of an announcement's last line, to the second. */
export const formatTimestamp = (ms: number): string => `${isoTime(ms).slice(0, 19)}Z`;

/** A time in the format of texts for people. */
export const formatUtc = (ms: number): string => isoMinute(ms).replace('Z', ' UTC');

/** The most characters of a note. */
const MAX_NOTE = 2500;
/** This leaves room for the last line of the note. */
const MAX_TEXT = 2000;

const lastLineStart = ({ marker, about }: AnnouncementId): string => `[${marker}: ${about} from `;
/** The last line of a note whose announcement has ended. */
const closedLine = ({ marker, about }: AnnouncementId): string => `[${marker}: ${about}, closed]`;

/**
 * The announcement on the site, if there is one; of several, the one with the latest time. The note `except` is
 * ignored. Costs one request per 100 notes with the marker, and one for each of them whose content the list does not
 * show. A list may be late: `readAnnouncement` shows whether the note is still there.
 *
 * @throws {NotShownError} when the service does not show the content of one of these notes.
 */
export async function findAnnouncement(
  { all, api }: Pick<JobApi, 'all' | 'api'>,
  id: AnnouncementId,
  except?: string,
): Promise<Announcement | undefined> {
  const query = { site_id: id.siteId, filters: { content: { contains: id.marker } } };
  let found: Announcement | undefined;
  for await (const { id: noteId, content: listed } of all('listSiteNotes', query)) {
    if (noteId === except) continue;
    const content = listed ?? (await contentOf(api, id, noteId));
    const from = announcedTime(content, id);
    if (from === undefined) continue;
    if (!found || Number.isNaN(found.from) || from > found.from) found = { noteId, from, content };
  }
  return found;
}

/**
 * What a note that announced the change says now: a list may not show it yet, and only the single view proves
 * that it is gone. `removed`: it is gone, or its last line is. `closed`: the announcement has ended. One
 * request.
 *
 * @throws {NotShownError} when the service does not show the content of the note.
 */
export async function readAnnouncement(
  api: Api,
  id: AnnouncementId,
  noteId: string,
): Promise<Announcement | 'removed' | 'closed'> {
  const content = await contentOf(api, id, noteId);
  const from = announcedTime(content, id);
  if (from !== undefined) return { noteId, from, content };
  return content.includes(closedLine(id)) ? 'closed' : 'removed';
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

/** The content of the note that announces a change. */
export const announcementContent = (id: AnnouncementId, text: string, from: number): string =>
  `${text.slice(0, MAX_TEXT)}\n${lastLineStart(id)}${formatTimestamp(from)}]`;

/** Identifies the content of a note. The service may change its line ends and the white space around it. */
export const hashOfNote = (content: string): string =>
  createHash('sha256').update(content.replaceAll('\r\n', '\n').trim()).digest('hex').slice(0, 16);

/**
 * Writes the announcement, into the note of the `old` one if there is one, and gives the id of the note. One
 * effect, `createSiteNote` or `updateSiteNote`. Its intent records the time in the format of
 * `formatTimestamp`.
 */
export async function announce(
  api: Api,
  id: AnnouncementId,
  content: string,
  from: number,
  old?: Pick<Announcement, 'noteId'>,
): Promise<string> {
  const body = { note: { content } };
  const intended = formatTimestamp(from);
  if (!old) return (await api.createSiteNote({ site_id: id.siteId, body }, intended)).note.id;
  await api.updateSiteNote({ site_id: id.siteId, note_id: old.noteId, body }, intended);
  return old.noteId;
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
  const content = `${text.slice(0, MAX_TEXT)}\n${closedLine(id)}`;
  try {
    await api.updateSiteNote({ site_id: id.siteId, note_id: noteId, body: { note: { content } } });
    return undefined;
  } catch (error) {
    const { gone, rejected } = problemWith(error);
    if (!gone && !rejected) throw error;
    return rejected?.message;
  }
}

/**
 * Takes back an announcement that Caretaker wrote and no one has changed since: removes its note. One effect,
 * `deleteSiteNote`, whose intent records the note.
 */
export async function removeAnnouncement(
  api: Api,
  { siteId }: AnnouncementId,
  noteId: string,
): Promise<void> {
  await api.deleteSiteNote({ site_id: siteId, note_id: noteId }, noteId);
}

/**
 * Takes back an announcement that a person has edited: what people wrote stays, and `text` and the mark of a closed
 * announcement replace its last line. One effect, `updateSiteNote`, whose intent records the note.
 */
export async function retractAnnouncement(
  api: Api,
  id: AnnouncementId,
  { noteId, content }: Announcement,
  text: string,
): Promise<void> {
  const at = content.indexOf(lastLineStart(id));
  const [before, rest] = [content.slice(0, at), content.slice(at)];
  const end = rest.indexOf(']');
  const after = end === -1 ? '' : rest.slice(end + 1);
  const full = `${before}${text}\n${closedLine(id)}${after}`;
  const short = `${before}${closedLine(id)}${after}`;
  const body = { note: { content: full.length <= MAX_NOTE ? full : short.slice(0, MAX_NOTE) } };
  await api.updateSiteNote({ site_id: id.siteId, note_id: noteId, body }, noteId);
}
