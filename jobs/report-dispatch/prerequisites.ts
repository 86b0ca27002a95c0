/**
 * What must be there before a report can be made and sent (spec 4.9): template, sender email, snapshots of
 * the days.
 */
import type { Item } from '../../src/contract/operations.ts';
import { dayIn } from '../../src/dates.ts';
import type { JobApi } from '../../src/job/api.ts';
import { problemWith } from '../../src/job/problem.ts';
import { boundsOf, type Period } from './period.ts';

type Sender = Item<'listSenderEmails'>;
type Site = Item<'listSites'>;

/**
 * What every report of an account needs, as far as it is there, and a sentence for each thing that is
 * missing.
 */
export interface Needs {
  /** With the subject of its own mails, where it has one. */
  template?: { id: string; subject?: string };
  senderId?: string;
  missing: string[];
}

type LookedUp<T> = { found: T } | { lacks: string };

/** A sentence lists no more names than a person reads. */
const MAX_NAMES = 12;

/**
 * Looks up the template, by name or id, and the sender email: the one asked for, or else the template's, or
 * else the only one that is ready. Costs one request per 100 templates and sender emails, and one for the
 * template.
 */
export async function needsOf(
  { api, all }: Pick<JobApi, 'api' | 'all'>,
  wanted: { template: string; sender?: string | undefined },
): Promise<Needs> {
  const templates = await collect(all('listReportTemplates', {}));
  const senders = await collect(all('listSenderEmails', {}));
  const looked = templateAmong(templates, wanted.template);
  if ('lacks' in looked) {
    const sender = senderAmong(senders, wanted.sender);
    return { missing: [looked.lacks, ...('lacks' in sender ? [sender.lacks] : [])] };
  }
  const id = looked.found;
  const { email } = (await api.showReportTemplate({ report_template_id: id })).report_template;
  const template = { id, ...(email?.subject === undefined ? {} : { subject: email.subject }) };
  const sender = senderAmong(senders, wanted.sender ?? email?.sender_email?.id);
  return 'lacks' in sender
    ? { template, missing: [sender.lacks] }
    : { template, senderId: sender.found, missing: [] };
}

function templateAmong(templates: readonly Item<'listReportTemplates'>[], wanted: string): LookedUp<string> {
  const [one, another] = templates.filter(({ id, name }) => id === wanted || name === wanted);
  if (one && !another) return { found: one.id };
  if (one) return { lacks: `Several report templates are called "${wanted}": say which by its id.` };
  const names = templates.map(({ id, name }) => `"${name ?? id}"`);
  return { lacks: `There is no report template "${wanted}"${listing('; there are', names)}.` };
}

function senderAmong(senders: readonly Sender[], wanted: string | undefined): LookedUp<string> {
  if (wanted !== undefined) {
    const sender = senders.find(
      ({ id, email }) => id === wanted || email?.toLowerCase() === wanted.toLowerCase(),
    );
    if (!sender) {
      const names = senders.map(({ id, email }) => email ?? id);
      return { lacks: `There is no sender email "${wanted}"${listing('; there are', names)}.` };
    }
    const faults = faultsOf(sender);
    if (faults.length === 0) return { found: sender.id };
    return { lacks: `The sender email ${sender.email ?? wanted} cannot be used: ${faults.join(', ')}.` };
  }
  const ready = senders.filter((sender) => faultsOf(sender).length === 0);
  const [one, another] = ready;
  if (one && !another) return { found: one.id };
  const names = ready.map(({ id, email }) => email ?? id);
  if (one) return { lacks: `There are several sender emails${listing(':', names)}; say which as "sender".` };
  return { lacks: 'No sender email is verified with its DKIM and its return path.' };
}

/** Why a sender email cannot be used, in clauses. */
function faultsOf({ status, domain }: Sender): string[] {
  return [
    ...(status === 'verified' ? [] : ['its owner has not confirmed it']),
    ...(domain?.dkim?.verified ? [] : ['its DKIM is not verified']),
    ...(domain?.return_path?.verified ? [] : ['its return path is not verified']),
  ];
}

/** Why no snapshot of a site can be of these days, as far as lists of sites show; nothing when one may be. */
export function snapshotsLack({ backups, created_at }: Site, period: Period, timezone: string): string[] {
  const { from, to } = boundsOf(period, timezone);
  if (backups?.enabled === false) return ['The site has no backups, and a report needs snapshots.'];
  const addedAt = Date.parse(created_at ?? '');
  if (addedAt > to) {
    return [`The site was added on ${dayIn(timezone, addedAt)}, after the days of the report.`];
  }
  if (backups?.available_snapshots === 0) return ['The site has no snapshots.'];
  const newestAt = Date.parse(backups?.latest_snapshot?.created_at ?? '');
  if (newestAt >= from || Number.isNaN(newestAt)) return [];
  return [`The newest snapshot is of ${dayIn(timezone, newestAt)}, before the days of the report.`];
}

/**
 * Whether a site has a good snapshot of these days, and a sentence with the first and the last; whether they
 * are enough is the service's to say. One request.
 */
export async function snapshotsOf(
  api: JobApi['api'],
  site_id: string,
  period: Period,
  timezone: string,
): Promise<LookedUp<string>> {
  const { from, to } = boundsOf(period, timezone);
  const days = `${period.start} to ${period.end}`;
  // Both bounds: with one or none, the service looks at the last seven days.
  const created_at = { gte: new Date(from).toISOString(), lte: new Date(to).toISOString() };
  const filters = { created_at, status: { eq: 'succeeded' } };
  try {
    const query = { filters, sort: 'created_at,asc', perPage: 100 };
    const { snapshots, meta } = await api.listSiteSnapshots({ site_id, ...query });
    const [first] = snapshots;
    if (!first) return { lacks: `The site has no good snapshot of ${days}.` };
    // Only where the service shows that there is no other page is the last of this one the last of all.
    const last = meta?.pagination?.totalPages === 1 ? snapshots.at(-1) : undefined;
    const dayOf = (at: string | undefined) => (at === undefined ? '?' : dayIn(timezone, Date.parse(at)));
    const until = last ? `to ${dayOf(last.created_at)}` : 'on';
    return { found: `Its good snapshots of ${days} are from ${dayOf(first.created_at)} ${until}.` };
  } catch (error) {
    const { rejected } = problemWith(error);
    if (!rejected) throw error;
    return { lacks: rejected.message };
  }
}

const listing = (introduction: string, names: readonly string[]): string => {
  if (names.length === 0) return '';
  const more = names.length > MAX_NAMES ? ', ...' : '';
  return `${introduction} ${names.slice(0, MAX_NAMES).join(', ')}${more}`;
};

async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
}
