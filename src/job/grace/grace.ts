/**
 * A change that is announced before it is made. The first run announces it; a run after the grace period makes
 * it, if the announcement is still there.
 *
 * The announcement is a note on the site of the target. Our records remember which note that was: so a removed
 * note is known from one that was never written. When the records are lost, the note still counts. A target
 * without a site has no note, and its announcement is in our records only.
 */
import { z } from 'zod';
import type { Answer, End } from '../answer.ts';
import type { Acting, Holder, Intent } from '../job.ts';
import {
  type Announcement,
  type AnnouncementId,
  announce,
  closeAnnouncement,
  findAnnouncement,
  formatTimestamp,
  formatUtc,
  readAnnouncement,
} from './announcement.ts';

/**
 * An announcement counts this long after its date, and so does its removal. People who read an older one may
 * have forgotten it.
 */
export const COUNTS_FOR_DAYS = 90;
export const COUNTS_FOR_MS = COUNTS_FOR_DAYS * 86_400_000;

/** A change to one target, as its job describes it. */
export interface GracedChange {
  /** The site that the note is written on; absent when the target belongs to none. */
  siteId?: string | undefined;
  /** See `AnnouncementId`. */
  marker: string;
  about: string;
  graceMs: number;
  /** See `Announcements`: an announcement from before that time no longer counts, and is written again. */
  missedAt?: number | undefined;
  /** The first line of the note: what will be done to what, and why. */
  headline(from: string): string;
  /** Lines of the note between that one and the last: what else the reader can do. */
  advice?: readonly string[] | undefined;
  /** What the outcome says, such as `To be deleted on or after 2026-11-24 14:05 UTC: it is paused.` */
  summary(from: string): string;
}

export type Graced = Pick<Acting<unknown>, 'api' | 'all' | 'once' | 'now'>;

/** What our records remember of an announcement. */
const Memory = z.object({
  from: z.number(),
  /** When it was written, or found without being remembered. */
  at: z.exactOptional(z.number()),
  /** The note and its site; a target without a site has neither. */
  noteId: z.exactOptional(z.string()),
  siteId: z.exactOptional(z.string()),
});
export type Memory = z.output<typeof Memory>;

/** The key under which an announcement is remembered. */
export const announcementKey = ({ marker, about }: Pick<GracedChange, 'marker' | 'about'>): string =>
  `announcement\n${marker}\n${about}`;

/** Parses what is remembered under `announcementKey`; undefined when nothing is. */
export function parseMemory(result: string | undefined): Memory | undefined {
  if (result === undefined) return undefined;
  return Memory.parse(JSON.parse(result));
}

/** The grace period is over, and the announcement is still there: the change may be made. */
export interface Due {
  is: 'due';
  /** The note of the announcement, for `closeChange`. */
  noteId?: string;
}

/**
 * Announces the change, or decides what follows from its announcement. Costs one request per 100 notes with
 * the marker; one more when our records know a note that is not among them, and one to announce. Nothing for a
 * target without a site. One effect at most.
 *
 * @throws {GoneError} when the site is gone. {NotShownError} when a note does not show its content.
 */
export async function awaitGrace(acting: Graced, change: GracedChange): Promise<Due | Answer<never>> {
  const { once, now } = acting;
  const holder = await once.holder(announcementKey(change));
  const memory = parseMemory(holder?.result);
  const found = await look(acting, change, memory);
  if (found === 'removed' && memory && now <= memory.from + COUNTS_FOR_MS) return keptEnd(memory.from);
  const old = found === 'removed' ? undefined : found;
  // A date that cannot be parsed is NaN: both comparisons are false, and the announcement is written again.
  const counts = old !== undefined && !((change.missedAt ?? 0) > (memory?.at ?? now));
  const isAnnounced = counts && now < old.from;
  const isDue = counts && !isAnnounced && now <= old.from + COUNTS_FOR_MS;
  if (old && !memory && (isAnnounced || isDue)) await remember(acting, change, { ...old }, holder);
  if (isAnnounced) return announcedEnd(old.from, change);
  if (isDue) return { is: 'due', ...(old.noteId === undefined ? {} : { noteId: old.noteId }) };

  const isHeld = holder && !holder.isOurs && holder.endedAt === undefined;
  if (isHeld) return { is: 'waiting', reason: 'conflict', detail: `The run ${holder.run} announces it.` };
  await once.claim(announcementKey(change), holder);
  const from = now + change.graceMs;
  const id = idOf(change);
  const written = old?.noteId === undefined ? undefined : { noteId: old.noteId, from: old.from };
  const noteId = id && (await announce(acting.api, id, textOf(change, from), from, written));
  await remember(acting, change, { from, ...(noteId === undefined ? {} : { noteId }) });
  return announcedEnd(from, change);
}

/**
 * The answer for a lost `createSiteNote` or `updateSiteNote` of `awaitGrace`; undefined when it provably
 * had no effect. Costs one request per 100 notes with the marker.
 */
export async function reconcileAnnouncement(
  acting: Graced,
  change: GracedChange,
  { note }: Pick<Intent, 'note'>,
): Promise<End | undefined> {
  const id = idOf(change);
  const found = id && (await findAnnouncement(acting, id));
  if (!found || formatTimestamp(found.from) !== note) return undefined;
  await remember(acting, change, found);
  return announcedEnd(found.from, change);
}

/**
 * Ends the announcement: its note is changed into `text`, and our records forget it. Gives the service's
 * message when it refuses the note; a note that is gone is not an error. One effect, `updateSiteNote`; none
 * without a note.
 */
export async function closeChange(
  acting: Pick<Graced, 'api' | 'once'>,
  change: Pick<GracedChange, 'siteId' | 'marker' | 'about'>,
  noteId: string | undefined,
  text: string,
): Promise<string | undefined> {
  const id = idOf(change);
  const refusal =
    id && noteId !== undefined ? await closeAnnouncement(acting.api, id, noteId, text) : undefined;
  await forget(acting, change);
  return refusal;
}

/** Whether the lost `updateSiteNote` of `closeChange` had its effect. Our records forget it then. One request. */
export async function isClosed(
  acting: Pick<Graced, 'api' | 'once'>,
  change: Pick<GracedChange, 'siteId' | 'marker' | 'about'>,
  noteId: string,
): Promise<boolean> {
  const id = idOf(change);
  if (id && typeof (await readAnnouncement(acting.api, id, noteId)) === 'object') return false;
  await forget(acting, change);
  return true;
}

/** The announcement: in the account or, for a target without a site, in our records. */
async function look(
  acting: Graced,
  change: GracedChange,
  memory: Memory | undefined,
): Promise<(Omit<Announcement, 'noteId'> & { noteId?: string }) | 'removed' | undefined> {
  const id = idOf(change);
  if (!id) return memory && { from: memory.from };
  const listed = await findAnnouncement(acting, id);
  if (listed || memory?.noteId === undefined) return listed;
  const read = await readAnnouncement(acting.api, id, memory.noteId);
  return read === 'closed' ? undefined : read;
}

const idOf = ({
  siteId,
  marker,
  about,
}: Pick<GracedChange, 'siteId' | 'marker' | 'about'>): AnnouncementId | undefined =>
  siteId === undefined ? undefined : { siteId, marker, about };

/** Remembers an announcement, unless another run does so at this time. */
async function remember(
  { once, now }: Pick<Graced, 'once' | 'now'>,
  change: GracedChange,
  { from, noteId }: Pick<Memory, 'from' | 'noteId'>,
  instead?: Holder,
): Promise<void> {
  const key = announcementKey(change);
  const isFree = instead && !instead.isOurs && instead.endedAt !== undefined;
  await once.claim(key, isFree ? instead : undefined);
  const { siteId } = change;
  const note = noteId === undefined || siteId === undefined ? {} : { noteId, siteId };
  await once.note(key, JSON.stringify({ from, at: now, ...note } satisfies Memory));
}

/** A key that is taken over has no result, whoever held it. */
async function forget(
  { once }: Pick<Graced, 'once'>,
  change: Pick<GracedChange, 'marker' | 'about'>,
): Promise<void> {
  const key = announcementKey(change);
  const holder = await once.holder(key);
  if (holder) await once.claim(key, holder);
}

function textOf({ headline, advice = [] }: GracedChange, from: number): string {
  return [
    headline(formatUtc(from)),
    `To cancel this, remove this note. It is then not announced again before ${COUNTS_FOR_DAYS} days after that date.`,
    'To postpone this, write a later date into the last line.',
    ...advice,
  ].join('\n');
}

/** An announcement is a warning, so that it is notified once, when it is new. */
function announcedEnd(from: number, { summary }: GracedChange): End {
  // A date that nobody can parse is written again, and never reported.
  const detail = summary(formatUtc(from));
  const findings = [{ severity: 'warning' as const, about: 'announced', message: detail }];
  return { is: 'done', reason: 'announced', detail, findings };
}

const keptEnd = (from: number): End => ({
  is: 'skipped',
  reason: 'announcement-removed',
  detail: `Its announcement for ${formatUtc(from)} was removed, so it is kept until ${formatUtc(from + COUNTS_FOR_MS)}.`,
});
