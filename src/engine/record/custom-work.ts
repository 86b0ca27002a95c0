/**
 * Custom work entries: one for each site, policy and day. The last line of the description identifies an
 * entry, so that it is found in the service when our records are lost.
 */
import { createHash } from 'node:crypto';
import { GoneError, InvalidInputError, RejectedError } from '../../client/errors.ts';
import { allItems } from '../../client/pages.ts';
import { isoTime } from '../../clock.ts';
import { dayIn, isoDay } from '../../dates.ts';
import { shown } from '../../job/shown.ts';
import { fillTexts, usesSite } from '../../policy/record-texts.ts';
import { type PendingRun, type SiteWriter, TooEarlyError } from './site-writer.ts';

const INTENT = 'work';
const REFERENCE = 'Ref. ';

/**
 * Identifies the entry of a policy and day. Clients see it in their reports, so it is short and shows nothing
 * of the policy.
 */
export function referenceOf(policy: string, day: string): string {
  const digest = createHash('sha256').update(`${policy}\n${day}`).digest();
  const letters = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
  return `${REFERENCE}${[...digest.subarray(0, 8)].map((byte) => letters[byte % 32]).join('')}`;
}

const zoneOf = ({ policy }: PendingRun): string => policy.schedule?.timezone ?? 'UTC';

/** An entry, and the runs that it is for. */
interface Entry {
  reference: string;
  policy: string;
  day: string;
  pending: PendingRun[];
}

/**
 * Writes the entries of these runs that the site does not have yet. Costs nothing when our records show that
 * they are there; otherwise one request for each 100 entries of the site since their day, one if their texts
 * use the site, and one to create them all.
 *
 * @throws the client's errors, and those of `SiteWriter.change`.
 */
export async function writeEntries(writer: SiteWriter, runs: readonly PendingRun[]): Promise<void> {
  const { records } = writer.deps;
  const { account, site } = writer.claim;
  const wanted: Entry[] = [];
  for (const entry of entriesOf(runs)) {
    const id = { policy: entry.policy, site, day: entry.day };
    if (await records.outbox.hasEntry(account, id))
      await writer.settle(entry.pending, 'work', { state: 'recorded' });
    else wanted.push(entry);
  }
  const due = await dueEntries(writer, wanted);
  if (due.length > 0) await create(writer, await missing(writer, due));
  const [later] = wanted.filter((entry) => !due.includes(entry));
  if (later) throw new TooEarlyError(await beginOf(writer, later.day), notYet(later.day));
}

const notYet = (day: string) => `The day ${day} has not begun in UTC, and the service takes no later day.`;

function entriesOf(runs: readonly PendingRun[]): Entry[] {
  const entries = new Map<string, Entry>();
  for (const one of runs) {
    const { policy } = one.run;
    const day = dayIn(zoneOf(one), one.record.at ?? one.record.since);
    const reference = referenceOf(policy, day);
    const entry = entries.get(reference) ?? { reference, policy, day, pending: [] };
    entries.set(reference, { ...entry, pending: [...entry.pending, one] });
  }
  return [...entries.values()];
}

/** The entries whose day has begun by the service's clock, in UTC. */
async function dueEntries(writer: SiteWriter, entries: readonly Entry[]): Promise<Entry[]> {
  if (entries.length === 0) return [];
  const { earliest } = await writer.client.serviceTime(writer.deps.clock.now(), writer.options);
  // Most days began long ago, also for a service that shows no time.
  return entries.filter(({ day }) => day <= isoDay(earliest) || day < isoDay(writer.deps.clock.now()));
}

/** When a day begins in UTC by the service's clock, as a time of our clock. */
async function beginOf(writer: SiteWriter, day: string): Promise<number> {
  const now = writer.deps.clock.now();
  const { earliest } = await writer.client.serviceTime(now, writer.options);
  return now + Math.max(1_000, Date.parse(day) - earliest);
}

/** Those that the site does not have. The others are recorded. */
async function missing(writer: SiteWriter, entries: readonly Entry[]): Promise<Entry[]> {
  const { site } = writer.claim;
  const [first = ''] = entries.map(({ day }) => day).sort();
  const filters = { performed_on: { gte: first }, description: { contains: REFERENCE } };
  const references = new Set<string>();
  const pages = allItems('listSiteCustomWorks', (page) =>
    writer.read('listSiteCustomWorks', { site_id: site, filters, ...page }),
  );
  for await (const { id, description } of pages) {
    const text = description ?? (await descriptionOf(writer, id));
    for (const [found] of text.matchAll(/Ref\. [0-9A-Z]{8}/g)) references.add(found);
  }
  for (const entry of entries) if (references.has(entry.reference)) await noteThere(writer, entry);
  return entries.filter(({ reference }) => !references.has(reference));
}

async function descriptionOf(writer: SiteWriter, id: string): Promise<string> {
  try {
    const input = { site_id: writer.claim.site, custom_work_id: id };
    const { custom_work } = await writer.read('showSiteCustomWork', input);
    return shown(custom_work.description, 'custom_work.description');
  } catch (error) {
    if (error instanceof GoneError) return '';
    throw error;
  }
}

async function noteThere(writer: SiteWriter, { policy, day, pending }: Entry): Promise<void> {
  const { account, site } = writer.claim;
  await writer.deps.records.outbox.noteEntry(account, { policy, site, day });
  await writer.settle(pending, 'work', { state: 'recorded', drop: INTENT });
}

async function create(writer: SiteWriter, entries: readonly Entry[]): Promise<void> {
  if (entries.length === 0) return;
  const { site } = writer.claim;
  const usingSite = entries.some(({ pending: [first] }) => {
    const texts = first?.policy.record?.customWork;
    return texts !== undefined && usesSite(texts);
  });
  const item = usingSite ? (await writer.read('showSite', { site_id: site })).site : undefined;
  const custom_works = entries.map((entry) => bodyOf(writer, entry, item));
  try {
    await writer.change('createSiteCustomWorks', INTENT, { site_id: site, body: { custom_works } });
  } catch (error) {
    if (!(error instanceof RejectedError || error instanceof InvalidInputError)) throw error;
    // One that is refused does not keep out the others.
    if (entries.length > 1) {
      for (const entry of entries) await create(writer, [entry]);
      return;
    }
    const why = error instanceof RejectedError ? error.problem.message : error.message;
    const pending = entries.flatMap((entry) => entry.pending);
    return writer.settle(pending, 'work', { state: 'failed', why, drop: INTENT });
  }
  for (const entry of entries) await noteThere(writer, entry);
}

function bodyOf({ deps }: SiteWriter, { reference, policy, day, pending }: Entry, site: object | undefined) {
  const [first] = pending;
  const texts = first?.policy.record?.customWork;
  if (!first || !texts) throw new Error('An entry is for a run whose policy records custom work.');
  const { run, record } = first;
  const facts = {
    run: { id: run.id, policy, date: dayIn(zoneOf(first), run.scheduledFor) },
    outcome: { targets: record.done, ended_at: isoTime(record.at ?? record.since) },
  };
  const { title, description } = fillTexts(texts, site, facts, new Date(deps.clock.now()));
  return {
    title,
    description: description === '' ? reference : `${description}\n${reference}`,
    performed_on: day,
  };
}
