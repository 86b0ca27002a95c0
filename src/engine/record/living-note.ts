/**
 * The living note of a policy on a site: one note, updated after each run. Its marks identify it, so that it
 * is found in the service when our records are lost. A note that a person deleted, or whose marks they
 * removed, is left alone for a while.
 */
import { GoneError, InvalidInputError, RejectedError } from '../../client/errors.ts';
import { allItems } from '../../client/pages.ts';
import { isoMinute, isoTime, timeOf } from '../../clock.ts';
import { DAY_MS } from '../../dates.ts';
import { shown } from '../../job/shown.ts';
import type { Run } from '../../run/run.ts';
import type { PendingRun, SiteWriter } from './site-writer.ts';

// The text of a living note. The part between its two marks belongs to Caretaker, one line for each run;
// everything else belongs to people and stays as it is. Pure.

/** What the service allows (spec 2.19). */
const MAX_CONTENT = 2500;

/** The first line of Caretaker's part. Lists are searched for it. */
export const beginMark = (policy: string): string => `[Caretaker, ${policy}: last runs]`;
const endStart = (policy: string): string => `[Caretaker, ${policy}: end.`;
const endMark = (policy: string): string =>
  `${endStart(policy)} Write above or below; this part is replaced.]`;

/** One run in the note. */
export interface NoteLine {
  /** Identifies the run in the notes of its policy. */
  key: string;
  text: string;
}

const linePattern = /^(\d{4}-\d\d-\d\d \d\d:\d\dZ) .+?(?: \((\d{8}T\d{6}Z[\w-]*)\))?$/;

/** The line of a run. Runs that have no scheduled time of their own are named by the end of their id. */
export function lineOf(
  { id, policy, trigger, scheduledFor }: Pick<Run, 'id' | 'policy' | 'trigger' | 'scheduledFor'>,
  { done, failed, why = '' }: { done: number; failed: number; why?: string | undefined },
): NoteLine {
  const time = isoMinute(scheduledFor);
  const isScheduled = trigger === 'schedule' || trigger === 'catch-up';
  const name = isScheduled ? '' : id.slice(policy.length + 1);
  const counts = [
    ...(done > 0 ? [done + failed === 1 ? 'done' : `${done} done`] : []),
    ...(failed > 0 ? [done + failed === 1 ? 'failed' : `${failed} failed`] : []),
  ].join(', ');
  const result = failed > 0 && why !== '' ? `${counts}: ${why}` : counts;
  return { key: name || time, text: `${time} ${result}${name === '' ? '' : ` (${name})`}` };
}

/** What is to be done with a note. */
export type NewText =
  | { is: 'changed'; content: string }
  /** It has the lines already. */
  | { is: 'unchanged' }
  /** A person has removed one of the marks: the whole text is theirs. */
  | { is: 'removed' }
  /** The text of people leaves no room for a line. */
  | { is: 'full' };

/**
 * The content with these lines, the newest run first, as many as fit. `content` is that of the note so far, if
 * there is one. Lines that people wrote between the marks are moved below them.
 */
export function withLines(content: string | undefined, policy: string, lines: readonly NoteLine[]): NewText {
  const parts = content === undefined ? { before: '', lines: [], after: '' } : partsOf(content, policy);
  if (!parts) return { is: 'removed' };
  const all = new Map(parts.lines.map((line) => [line.key, line.text]));
  for (const { key, text } of lines) all.set(key, text);
  const newestFirst = [...all.values()].sort((a, b) => (a < b ? 1 : -1));
  const compose = (shown: readonly string[]) =>
    `${parts.before}${[beginMark(policy), ...shown, endMark(policy)].join('\n')}${parts.after}`;
  let count = newestFirst.length;
  while (count > 0 && compose(newestFirst.slice(0, count)).length > MAX_CONTENT) count -= 1;
  if (count === 0) return { is: 'full' };
  const composed = compose(newestFirst.slice(0, count));
  return composed.trim() === content?.trim() ? { is: 'unchanged' } : { is: 'changed', content: composed };
}

interface Parts {
  before: string;
  lines: NoteLine[];
  after: string;
}

function partsOf(content: string, policy: string): Parts | undefined {
  const begin = content.indexOf(beginMark(policy));
  const end = content.indexOf(endStart(policy), begin);
  const close = content.indexOf(']', end);
  if (begin < 0 || end < 0 || close < 0) return undefined;
  const lines: NoteLine[] = [];
  const moved: string[] = [];
  for (const written of content.slice(begin + beginMark(policy).length, end).split(/\r?\n/)) {
    const line = written.trim();
    const [, time, name] = linePattern.exec(line) ?? [];
    if (time !== undefined) lines.push({ key: name ?? time, text: line });
    else if (line !== '') moved.push(`\n${line}`);
  }
  return {
    before: content.slice(0, begin),
    lines,
    after: `${moved.join('')}${content.slice(close + 1)}`,
  };
}

/** How long a note that a person removed is not made again. */
const REMOVED_MS = 90 * DAY_MS;

const FULL = 'The text of people in the note leaves no room for a line of a run.';

const removedUntil = (removedAt: number): string =>
  `A person removed the note; it is not made again before ${isoTime(removedAt + REMOVED_MS).slice(0, 10)}.`;

/**
 * Writes these runs of one policy into its note on the site. Costs two requests: one to read the note and one
 * to write it; three when the note is looked for and there, and two when it is made.
 *
 * @throws the client's errors, and those of `SiteWriter.change`.
 */
export async function writeNote(
  writer: SiteWriter,
  policy: string,
  runs: readonly PendingRun[],
): Promise<void> {
  const { deps, claim } = writer;
  const { account, site } = claim;
  const known = await deps.records.outbox.livingNote(account, policy, site);
  if (known && 'removedAt' in known && deps.clock.now() < known.removedAt + REMOVED_MS)
    return leave(writer, policy, runs, known.removedAt);
  const lines = runs.map(({ run, record }) => {
    const why = record.reason === undefined ? undefined : deps.registry.reasons.get(record.reason)?.text;
    return lineOf(run, { done: record.done, failed: record.failed, why });
  });
  const noteId = known && 'noteId' in known ? known.noteId : await findNote(writer, policy);
  if (noteId === undefined) await create(writer, policy, runs, lines);
  else await update(writer, policy, runs, lines, noteId);
}

/** The policy's note on the site, the oldest one if there are several. One request for each 100 such notes. */
async function findNote(
  writer: SiteWriter,
  policy: string,
  { except }: { except?: string } = {},
): Promise<string | undefined> {
  const { site, account } = writer.claim;
  const filters = { content: { contains: beginMark(policy) } };
  const found: { id: string; at: number }[] = [];
  const pages = allItems('listSiteNotes', (page) =>
    writer.read('listSiteNotes', { site_id: site, filters, ...page }),
  );
  for await (const { id, content, created_at } of pages) {
    if (id === except || !(content ?? beginMark(policy)).includes(beginMark(policy))) continue;
    found.push({ id, at: timeOf(created_at)?.earliest ?? Number.POSITIVE_INFINITY });
  }
  const [oldest] = found.sort((a, b) => a.at - b.at || (a.id < b.id ? -1 : 1));
  if (oldest) await writer.deps.records.outbox.setLivingNote(account, policy, site, { noteId: oldest.id });
  return oldest?.id;
}

const intentOf = (policy: string): string => `note:${policy}`;

async function create(
  writer: SiteWriter,
  policy: string,
  runs: readonly PendingRun[],
  lines: readonly NoteLine[],
): Promise<void> {
  const { account, site } = writer.claim;
  const text = withLines(undefined, policy, lines);
  if (text.is !== 'changed') throw new Error('A new note has room for a line.');
  const drop = intentOf(policy);
  const body = { note: { content: text.content } };
  await unlessRefused(writer, policy, runs, async () => {
    const made = await writer.change('createSiteNote', drop, { site_id: site, body });
    if (made) await writer.deps.records.outbox.setLivingNote(account, policy, site, { noteId: made.note.id });
    await writer.settle(runs, 'note', { state: 'recorded', drop });
  });
}

async function update(
  writer: SiteWriter,
  policy: string,
  runs: readonly PendingRun[],
  lines: readonly NoteLine[],
  noteId: string,
): Promise<void> {
  const drop = intentOf(policy);
  const path = { site_id: writer.claim.site, note_id: noteId };
  let content: string;
  try {
    // Read immediately before it is written: whatever a person wrote has to stay.
    content = shown((await writer.read('showSiteNote', path)).note.content, 'note.content');
  } catch (error) {
    if (!(error instanceof GoneError)) throw error;
    // This request fails as well when the site itself is gone.
    const other = await findNote(writer, policy, { except: noteId });
    if (other !== undefined) return update(writer, policy, runs, lines, other);
    return leave(writer, policy, runs, writer.deps.clock.now());
  }
  const text = withLines(content, policy, lines);
  if (text.is === 'removed') return leave(writer, policy, runs, writer.deps.clock.now());
  if (text.is === 'full') return writer.settle(runs, 'note', { state: 'failed', why: FULL, drop });
  if (text.is === 'unchanged') return writer.settle(runs, 'note', { state: 'recorded', drop });
  await unlessRefused(writer, policy, runs, async () => {
    await writer.change('updateSiteNote', drop, { ...path, body: { note: { content: text.content } } });
    await writer.settle(runs, 'note', { state: 'recorded', drop });
  });
}

/** Records that a person has removed the note, at the first time this was seen. */
async function leave(
  writer: SiteWriter,
  policy: string,
  runs: readonly PendingRun[],
  removedAt: number,
): Promise<void> {
  const { account, site } = writer.claim;
  await writer.deps.records.outbox.setLivingNote(account, policy, site, { removedAt });
  await writer.settle(runs, 'note', { state: 'left', why: removedUntil(removedAt) });
}

/** A refusal is final. */
async function unlessRefused(
  writer: SiteWriter,
  policy: string,
  runs: readonly PendingRun[],
  send: () => Promise<void>,
): Promise<void> {
  try {
    await send();
  } catch (error) {
    if (!(error instanceof RejectedError || error instanceof InvalidInputError)) throw error;
    const why = error instanceof RejectedError ? error.problem.message : error.message;
    await writer.settle(runs, 'note', { state: 'failed', why, drop: intentOf(policy) });
  }
}
