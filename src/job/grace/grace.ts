/**
 * A change that is announced before it is made. The first run announces it; a run after the grace period makes
 * it, if the announcement is still there.
 *
 * The announcement is a note on the site of the target. Our records remember which note that was: so a removed
 * note is known from one that was never written. When the records are lost, the note still counts. A target
 * without a site has no note, and its announcement is in our records only.
 *
 * An announcement is open from before its note is written until it is closed, because the change was made, or
 * withdrawn, because the policy no longer selects the target (`withdraw.ts`).
 */
import { z } from 'zod';
import type { OperationId } from '../../contract/operations.ts';
import type { Answer, End } from '../answer.ts';
import type { Acting, Intent } from '../job.ts';
import {
  type Announcement,
  type AnnouncementId,
  announce,
  announcementContent,
  closeAnnouncement,
  findAnnouncement,
  formatTimestamp,
  formatUtc,
  hashOfNote,
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
  /** The operation that makes the change. */
  operation: OperationId;
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

export type Graced = Pick<
  Acting<unknown>,
  'api' | 'all' | 'once' | 'announcements' | 'now' | 'target' | 'step'
>;

/** What our records remember of an announcement. */
const Memory = z.object({
  from: z.number(),
  /** When it was written, or found without being remembered. */
  at: z.exactOptional(z.number()),
  /** The note and its site; a target without a site has neither. */
  noteId: z.exactOptional(z.string()),
  siteId: z.exactOptional(z.string()),
  /** The hash of the note as it was written; none for a note that was found. */
  hash: z.exactOptional(z.string()),
  /** When and by whom the change was cancelled by a command. */
  cancelled: z.exactOptional(
    z.object({ at: z.number(), by: z.string(), reason: z.exactOptional(z.string()) }),
  ),
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

/** An announcement that is neither closed nor withdrawn, as our records keep it for its policy. */
export const OpenAnnouncement = z.object({
  /** The step of the policy that announced it. */
  step: z.number(),
  target: z.string(),
  label: z.string(),
  marker: z.string(),
  about: z.string(),
  operation: z.string(),
  siteId: z.exactOptional(z.string()),
});
export type OpenAnnouncement = z.output<typeof OpenAnnouncement>;

/** The grace period is over, and the announcement is still there: the change may be made. */
export interface Due {
  is: 'due';
  /** The note of the announcement, for `closeChange`. */
  noteId?: string;
}

/**
 * Announces the change, or decides what follows from its announcement. Costs no request for a change that was
 * cancelled by a command, and one while our records know the note and it is there. Else one per 100 notes with the
 * marker, one more for a note that is found, and one to announce. Nothing for a target without a site. One effect at
 * most.
 *
 * @throws {GoneError} when the site is gone. {NotShownError} when a note does not show its content.
 */
export async function awaitGrace(acting: Graced, change: GracedChange): Promise<Due | Answer<never>> {
  const { once, now } = acting;
  const holder = await once.holder(announcementKey(change));
  const memory = parseMemory(holder?.result);
  // The plan has a withdrawal for the note, if it is still there.
  if (memory && isCancelled(memory, now)) return keptEnd(memory);
  const found = await look(acting, change, memory);
  if (found === 'removed' && memory && now <= memory.from + COUNTS_FOR_MS) return keptEnd(memory);
  const old = found === 'removed' ? undefined : found;

  // A run that holds the key without a result has begun to announce the change again, or has ended its announcement.
  const isOutdated = (holder && !memory) || (change.missedAt ?? 0) > (memory?.at ?? now);
  // A date that cannot be parsed is NaN: the comparison is false, and the announcement is written again.
  if (old && !isOutdated && now <= old.from + COUNTS_FOR_MS) {
    if (!memory) await remember(acting, change, { ...old });
    return now < old.from ? announcedEnd(old.from, change) : dueBy(old);
  }

  const isHeld = holder && !holder.isOurs && holder.endedAt === undefined;
  if (isHeld) return { is: 'waiting', reason: 'conflict', detail: `The run ${holder.run} announces it.` };
  await once.claim(announcementKey(change), holder);
  await keepOpen(acting, change);
  const from = now + change.graceMs;
  const id = idOf(change);
  if (!id) {
    await remember(acting, change, { from });
    return announcedEnd(from, change);
  }
  const content = announcementContent(id, textOf(change, from), from);
  const written = old?.noteId === undefined ? undefined : { noteId: old.noteId };
  const noteId = await announce(acting.api, id, content, from, written);
  await remember(acting, change, { from, noteId, hash: hashOfNote(content) });
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
  const { noteId, from } = found;
  await remember(acting, change, {
    noteId,
    from,
    hash: hashOfNote(announcementContent(id, textOf(change, from), from)),
  });
  return announcedEnd(found.from, change);
}

/**
 * Ends the announcement: its note is changed into `text`, and our records forget it. Gives the service's
 * message when it refuses the note; a note that is gone is not an error. One effect, `updateSiteNote`; none
 * without a note.
 */
export async function closeChange(
  acting: Pick<Graced, 'api' | 'once' | 'announcements'>,
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
  acting: Pick<Graced, 'api' | 'once' | 'announcements'>,
  change: Pick<GracedChange, 'siteId' | 'marker' | 'about'>,
  noteId: string,
): Promise<boolean> {
  const id = idOf(change);
  if (id && typeof (await readAnnouncement(acting.api, id, noteId)) === 'object') return false;
  await forget(acting, change);
  return true;
}

const dueBy = ({ noteId }: { noteId?: string }): Due => ({
  is: 'due',
  ...(noteId === undefined ? {} : { noteId }),
});

/** The announcement: in the account or, for a target without a site, in our records. */
async function look(
  acting: Graced,
  change: GracedChange,
  memory: Memory | undefined,
): Promise<{ from: number; noteId?: string } | 'removed' | undefined> {
  const id = idOf(change);
  if (!id) return memory && { from: memory.from };
  const found = await lookFor(acting, id, memory?.noteId);
  return found === 'closed' ? undefined : found;
}

/**
 * The announcement of a change: in the note that our records know, or in another. When none of them has it, what
 * became of the one that they know. Costs one request while that one has it; else one per 100 notes with the marker,
 * and one for a note that is found.
 *
 * @throws {GoneError} when the site is gone. {NotShownError} when a note does not show its content.
 */
export async function lookFor(
  acting: Pick<Graced, 'api' | 'all'>,
  id: AnnouncementId,
  noteId: string | undefined,
): Promise<Announcement | 'removed' | 'closed' | undefined> {
  const known = noteId === undefined ? undefined : await readAnnouncement(acting.api, id, noteId);
  if (typeof known === 'object') return known;
  const listed = await findAnnouncement(acting, id, noteId);
  const other = listed && (await readAnnouncement(acting.api, id, listed.noteId));
  return typeof other === 'object' ? other : known;
}

export const idOf = ({
  siteId,
  marker,
  about,
}: Pick<GracedChange, 'siteId' | 'marker' | 'about'>): AnnouncementId | undefined =>
  siteId === undefined ? undefined : { siteId, marker, about };

/** Remembers an announcement, unless another run does so at this time. */
async function remember(
  acting: Graced,
  change: GracedChange,
  { from, noteId, hash }: Pick<Memory, 'from' | 'noteId' | 'hash'>,
): Promise<void> {
  const { once, now } = acting;
  const key = announcementKey(change);
  await keepOpen(acting, change);
  await once.claim(key);
  const { siteId } = change;
  const note = noteId === undefined || siteId === undefined ? {} : { noteId, siteId };
  const written = hash === undefined ? {} : { hash };
  await once.note(key, JSON.stringify({ from, at: now, ...note, ...written } satisfies Memory));
}

/** Keeps the announcement among the open ones of its policy. */
async function keepOpen(
  { announcements, target, step }: Pick<Graced, 'announcements' | 'target' | 'step'>,
  change: GracedChange,
): Promise<void> {
  const { marker, about, operation, siteId } = change;
  const open = { step, target: target.id, label: target.label, marker, about, operation };
  const facts: OpenAnnouncement = siteId === undefined ? open : { ...open, siteId };
  await announcements.add(announcementKey(change), JSON.stringify(facts));
}

/** A key that is taken over has no result, no matter who held it. Only then is the announcement no longer open. */
export async function forget(
  { once, announcements }: Pick<Graced, 'once' | 'announcements'>,
  change: Pick<GracedChange, 'marker' | 'about'>,
): Promise<void> {
  const key = announcementKey(change);
  const holder = await once.holder(key);
  if (holder) await once.claim(key, holder);
  await announcements.remove(key);
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
  // A date that no one can parse is written again, and never reported.
  const detail = summary(formatUtc(from));
  const findings = [{ severity: 'warning' as const, about: 'announced', message: detail }];
  return { is: 'done', reason: 'announced', detail, findings };
}

/** Whether a command has cancelled the change, and that still counts. */
export const isCancelled = ({ cancelled, from }: Memory, now: number): boolean =>
  cancelled !== undefined && now <= from + COUNTS_FOR_MS;

const keptEnd = ({ from, cancelled }: Memory): End => ({
  is: 'skipped',
  reason: 'announcement-removed',
  detail: `Its announcement for ${formatUtc(from)} was ${cancelled ? `cancelled by ${cancelled.by}` : 'removed'}, so it is kept until ${formatUtc(from + COUNTS_FOR_MS)}.`,
});
