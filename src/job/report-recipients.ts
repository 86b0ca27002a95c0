/** Whom a report on a site goes to, and what the account says of the mails that they have had already (spec 2.11). */
import type { Answer, Item } from '../contract/operations.ts';
import type { Reason } from '../run/reasons.ts';
import { scrub } from '../secrets.ts';
import type { End, Reading } from './job.ts';
import { type MailFacts, mailValue } from './mail-text.ts';
import { inWords } from './options.ts';
import { boundsOf, type Period, sayPeriod } from './period.ts';
import { problemWith } from './problem.ts';
import { mailTo, missOf } from './watch-mail.ts';

type Site = Item<'listSites'>;
type Report = Item<'listReports'>;

export const isAbout = ({ start_date, end_date }: Report, { start, end }: Period): boolean =>
  start_date === start && end_date === end;

/**
 * By site: the reports about these very days, newest first. One request per 100 reports made since the last of them, and one for
 * each of them whose entry does not show whom it was sent to: that it was sent to nobody would have to be shown.
 */
export async function reportsAbout(
  { api, all }: Pick<Reading, 'api' | 'all'>,
  period: Period,
  timezone: string,
): Promise<Map<string, Report[]>> {
  const { from } = boundsOf({ start: period.end, end: period.end }, timezone);
  const query = {
    filters: { created_at: { gte: new Date(from).toISOString() } },
    sort: 'created_at,desc',
  };
  const found = new Map<string, Report[]>();
  for await (const report of all('listReports', query)) {
    const siteId = report.site?.id;
    if (siteId === undefined || !isAbout(report, period)) continue;
    const shown = report.email?.recipients ? report : await shownAlone(api, report);
    if (shown) found.set(siteId, [...(found.get(siteId) ?? []), shown]);
  }
  return found;
}

/** A report as it is shown alone, with what its entry in the list has besides; nothing when it is gone by now. */
async function shownAlone(api: Reading['api'], entry: Report): Promise<Report | undefined> {
  try {
    const { report } = await api.showReport({ report_id: entry.id });
    return { ...entry, ...report };
  } catch (error) {
    if (problemWith(error).gone) return undefined;
    throw error;
  }
}

/** Whether two addresses are one. */
export const isSame = (one: string, other: string): boolean => one.toLowerCase() === other.toLowerCase();

/** Whom the report on a site goes to, each once. `wanted` are addresses, or `client` for that of the site's client. */
export function addressesOf({ client }: Site, wanted: readonly string[]): string[] {
  const theirs = client?.email ? [client.email] : [];
  const all = wanted.flatMap((one) => (one === 'client' ? theirs : [one]));
  return all.filter((one, at) => all.findIndex((other) => isSame(other, one)) === at);
}

/** Why there is nobody to send to. */
export const nobody = ({ client }: Site): string =>
  client ? 'The client of the site has no e-mail address.' : 'The site has no client to send to.';

/** What a mail about a site may say of it, its client and the days. */
export function factsOf({ title, url, client }: Site, period: Period, language: string): MailFacts {
  const company = mailValue(client?.company_name);
  const name = mailValue(`${client?.first_name ?? ''} ${client?.last_name ?? ''}`);
  return {
    'site.title': mailValue(title),
    'site.url': mailValue(url),
    'client.name': name || company,
    'client.first_name': mailValue(client?.first_name),
    'client.last_name': mailValue(client?.last_name),
    'client.company_name': company,
    'period.name': sayPeriod(period, language),
    'period.start': period.start,
    'period.end': period.end,
  };
}

/**
 * Whether a report can be one of a policy, by its subject: that of the template, which it has until it is sent, or the one
 * that the policy sends. One that shows none may be.
 */
export const withSubject =
  (subjects: readonly string[]) =>
  ({ email }: Report): boolean =>
    !email?.subject || subjects.includes(email.subject);

export interface MailsSoFar {
  /** Who has been sent none of the reports. */
  open: string[];
  /** Whose mails did not arrive. */
  missed: string[];
  /** How a site ends that nobody needs to be sent anything for. */
  end: End;
  /** How a site ends of which nobody can tell who has been sent a report. */
  untold?: End;
}

/** What became of the mails of these reports, newest first, for everybody who is asked for. */
export function mailsSoFar(asked: readonly string[], reports: readonly Report[]): MailsSoFar {
  const open: string[] = [];
  const missed: string[] = [];
  const told: { good: string[]; bad: string[] } = { good: [], bad: [] };
  const silent = reports.filter(({ email }) => !email?.recipients);
  const untold: string[] = [];
  for (const address of asked) {
    const mails = reports.flatMap(({ id, email }) => {
      const mail = mailTo(email?.recipients ?? [], address);
      return mail ? [{ id, on: mail.sent_at?.slice(0, 10), miss: missOf(mail) }] : [];
    });
    const mail = mails.find(({ miss }) => miss === undefined) ?? mails[0];
    if (!mail) {
      (silent.length > 0 ? untold : open).push(address);
      continue;
    }
    const says = `The report ${mail.id} was sent to ${address}${mail.on ? ` on ${mail.on}` : ''}`;
    if (mail.miss === undefined) told.good.push(`${says}.`);
    else {
      missed.push(address);
      told.bad.push(`${says}: ${mail.miss}.`);
    }
  }
  // By itself nothing is sent there again: mail to an address that bounces harms the sender.
  const end: End =
    missed.length > 0
      ? { is: 'failed', reason: 'undelivered', detail: told.bad.join(' ') }
      : { is: 'skipped', reason: 'already-done', detail: told.good.join(' ') };
  if (untold.length === 0) return { open, missed, end };
  const detail = `The service does not show whom the report ${silent[0]?.id} was sent to; it may have been sent to ${untold.join(', ')}, and nothing was sent now.`;
  return { open, missed, end, untold: { is: 'failed', reason: 'unknown-effect', detail } };
}

/** The service's own words about one refusal are cut to this. */
const LONGEST_REFUSAL = 200;

/** Which addresses the service has taken on, and a sentence for each that it refused. */
export function readSent(
  to: readonly string[],
  { recipients, errors = [] }: Answer<'sendReportEmail'>['send_email'],
): { taken: string[]; refused: string[] } {
  const refusal = (email: string) =>
    errors.find(({ id, message }) => isSame(id ?? '', email) || message?.includes(email));
  const isTaken = (email: string) => recipients?.some((one) => isSame(one, email)) ?? !refusal(email);
  const taken = to.filter(isTaken);
  return { taken, refused: refusals(to, taken, (email) => refusal(email)?.message ?? 'it gave no reason.') };
}

/** A sentence for each address that was not taken on. */
export const refusals = (
  to: readonly string[],
  taken: readonly string[],
  why: (email: string) => string,
): string[] =>
  to
    .filter((email) => !taken.includes(email))
    .map((email) => `${email}: refused by the service: ${scrub(why(email)).slice(0, LONGEST_REFUSAL)}`);

/** Why a mail did not reach an address, in a sentence, and as a reason. */
export interface Miss {
  says: string;
  reason: Reason;
}

/** The addresses that a report has not arrived at, by a last look at it, now that it is no longer waited for. */
export const overdue = (to: readonly string[], { email }: Report, withinMs: number): Miss[] =>
  to.flatMap((address): Miss[] => {
    const mail = mailTo(email?.recipients ?? [], address);
    if (mail?.status === 'delivered' || mail?.status === 'opened') return [];
    const miss = mail && missOf(mail);
    if (miss !== undefined) return [{ says: `${address}: ${miss}.`, reason: 'undelivered' }];
    const why = mail ? 'not delivered' : 'the service did not show what became of the mail';
    return [{ says: `${address}: ${why} within ${inWords(withinMs)}.`, reason: 'timeout' }];
  });
