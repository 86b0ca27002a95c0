/**
 * The prerequisites of making and sending a report (spec 4.9): template, sender email, snapshots of the days.
 */
import type { Item } from '../../src/contract/operations.ts';
import { dayIn } from '../../src/dates.ts';
import type { JobApi } from '../../src/job/api.ts';
import { problemWith } from '../../src/job/problem.ts';
import { boundsOf, type Period } from './period.ts';

type Sender = Item<'listSenderEmails'>;
type Site = Item<'listSites'>;

/** What every report of an account needs, with a sentence for each thing that is missing. */
export interface Needs {
  /** With the subject of its own mails, where it has one. */
  template?: { id: string; subject?: string };
  senderId?: string;
  missing: string[];
}

type Lookup<T> = { found: T } | { missing: string };

/** The most names in one sentence. */
const MAX_NAMES = 12;

/**
 * Looks up the template and the sender email: the one asked for, or else the template's, or else the only one
 * that is ready. Costs one request for the template and one per 100 sender emails; and one per 100 templates
 * when the template does not exist.
 */
export async function needsOf(
  { api, all }: Pick<JobApi, 'api' | 'all'>,
  wanted: { template: string; sender?: string | undefined },
): Promise<Needs> {
  const id = wanted.template;
  const found = await showTemplate(api, id);
  const senders = await collect(all('listSenderEmails', {}));
  if (!found) {
    const missing = whyNoTemplate(id, await collect(all('listReportTemplates', {})));
    const sender = findSender(senders, wanted.sender);
    return { missing: [missing, ...('missing' in sender ? [sender.missing] : [])] };
  }
  const { email } = found;
  const template = { id, ...(email?.subject === undefined ? {} : { subject: email.subject }) };
  const sender = findSender(senders, wanted.sender ?? email?.sender_email?.id);
  return 'missing' in sender
    ? { template, missing: [sender.missing] }
    : { template, senderId: sender.found, missing: [] };
}

async function showTemplate(api: JobApi['api'], id: string) {
  try {
    return (await api.showReportTemplate({ report_template_id: id })).report_template;
  } catch (error) {
    if (!problemWith(error).gone) throw error;
    return undefined;
  }
}

function whyNoTemplate(wanted: string, templates: readonly Item<'listReportTemplates'>[]): string {
  const isName = templates.some(({ name }) => name === wanted);
  const hint = isName
    ? `; for the template of that name, write { name: ${JSON.stringify(wanted)} }`
    : listing(
        '; existing templates:',
        templates.map(({ id, name }) => (name === undefined ? `"${id}"` : `"${id}" (${name})`)),
      );
  return `There is no report template with the id "${wanted}"${hint}.`;
}

function findSender(senders: readonly Sender[], wanted: string | undefined): Lookup<string> {
  if (wanted !== undefined) {
    const sender = senders.find(({ id }) => id === wanted);
    if (!sender) return { missing: whyNoSender(wanted, senders) };
    const faults = faultsOf(sender);
    if (faults.length === 0) return { found: sender.id };
    return { missing: `The sender email ${sender.email ?? wanted} cannot be used: ${faults.join(', ')}.` };
  }
  const ready = senders.filter((sender) => faultsOf(sender).length === 0);
  const [one, another] = ready;
  if (one && !another) return { found: one.id };
  const names = ready.map(({ id, email }) => email ?? id);
  if (one)
    return { missing: `There are several sender emails${listing(':', names)}; set "sender" to one of them.` };
  return { missing: 'No sender email is verified, including its DKIM and return path.' };
}

function whyNoSender(wanted: string, senders: readonly Sender[]): string {
  const isAddress = senders.some(({ email }) => email?.toLowerCase() === wanted.toLowerCase());
  const hint = isAddress
    ? `; for the one with that address, write { name: ${JSON.stringify(wanted)} }`
    : listing(
        '; existing sender emails:',
        senders.map(({ id, email }) => (email === undefined ? id : `${id} (${email})`)),
      );
  return `There is no sender email with the id "${wanted}"${hint}.`;
}

/** Why a sender email cannot be used, in clauses. */
function faultsOf({ status, domain }: Sender): string[] {
  return [
    ...(status === 'verified' ? [] : ['its owner has not confirmed it']),
    ...(domain?.dkim?.verified ? [] : ['its DKIM is not verified']),
    ...(domain?.return_path?.verified ? [] : ['its return path is not verified']),
  ];
}

/** Why a site can have no snapshot of these days, as far as the list shows; empty when it may have one. */
export function missingSnapshots({ backups, created_at }: Site, period: Period, timezone: string): string[] {
  const { from, to } = boundsOf(period, timezone);
  if (backups?.enabled === false) return ['The site has no backups, and a report needs snapshots.'];
  const addedAt = Date.parse(created_at ?? '');
  if (addedAt > to) {
    return [`The site was added on ${dayIn(timezone, addedAt)}, after the days of the report.`];
  }
  if (backups?.available_snapshots === 0) return ['The site has no snapshots.'];
  const newestAt = Date.parse(backups?.latest_snapshot?.created_at ?? '');
  if (newestAt >= from || Number.isNaN(newestAt)) return [];
  return [`The newest snapshot is from ${dayIn(timezone, newestAt)}, before the days of the report.`];
}

/**
 * Whether a site has a successful snapshot of these days, with a sentence that names the first and the last. The
 * service decides whether they are enough. One request.
 */
export async function snapshotsOf(
  api: JobApi['api'],
  site_id: string,
  period: Period,
  timezone: string,
): Promise<Lookup<string>> {
  const { from, to } = boundsOf(period, timezone);
  const days = `${period.start} to ${period.end}`;
  // Both bounds: with one or none, the service looks at the last seven days.
  const created_at = { gte: new Date(from).toISOString(), lte: new Date(to).toISOString() };
  const filters = { created_at, status: { eq: 'succeeded' } };
  try {
    const query = { filters, sort: 'created_at,asc', perPage: 100 };
    const { snapshots, meta } = await api.listSiteSnapshots({ site_id, ...query });
    const [first] = snapshots;
    if (!first) return { missing: `The site has no successful snapshot of ${days}.` };
    // The last snapshot of this page is the last of all only if the service shows that there is one page.
    const last = meta?.pagination?.totalPages === 1 ? snapshots.at(-1) : undefined;
    const dayOf = (at: string | undefined) => (at === undefined ? '?' : dayIn(timezone, Date.parse(at)));
    const until = last ? `to ${dayOf(last.created_at)}` : 'on';
    return { found: `Its successful snapshots of ${days} are from ${dayOf(first.created_at)} ${until}.` };
  } catch (error) {
    const { rejected } = problemWith(error);
    if (!rejected) throw error;
    return { missing: rejected.message };
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
