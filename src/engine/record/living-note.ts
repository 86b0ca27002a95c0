/**
 * The living note of a policy on a site: one note, updated after each run. Its marks identify it, so that it
 * is found in the service when our records are lost. A note that a person deleted, or whose marks they
 * removed, is left alone for a while.
 */
import { GoneError, RejectedError } from '../../client/errors.ts';
import { InvalidInputError } from '../../client/invalid-input.ts';
import { allItems } from '../../client/pages.ts';
import { isoTime, timeOf } from '../../clock.ts';
import { DAY_MS } from '../../dates.ts';
import { shown } from '../../job/shown.ts';
import { beginMark, lineOf, type NoteLine, withLines } from './note-text.ts';
import type { PendingRun, SiteWriter } from './site-writer.ts';

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
