/**
 * Whom a report on a site goes to, and what the account says of the mails that they have had already (spec
 * 2.11).
 */

import type { Answer, Item } from '../../src/contract/operations.ts';
import type { End } from '../../src/job/answer.ts';
import type { JobApi } from '../../src/job/api.ts';
import { fieldsOfItem } from '../../src/job/fields.ts';
import type { Reason } from '../../src/job/job.ts';
import { formatDuration } from '../../src/job/options.ts';
import { completed } from '../../src/job/shown.ts';
import { scrub } from '../../src/secrets.ts';
import { shownAlone } from './claims.ts';
import { type MailFacts, mailValue } from './mail-text.ts';
import { boundsOf, type Period, sayPeriod } from './period.ts';
import { type EarlierMail, mailTo, missOf, newMailTo } from './watch-mail.ts';

type Site = Item<'listSites'>;
type Report = Item<'listReports'>;

/** Nobody's clock is further from ours. */
const CLOCKS_DIFFER_MS = 3_600_000;

export const isAbout = ({ start_date, end_date }: Report, { start, end }: Period): boolean =>
  start_date === start && end_date === end;

/**
 * By site: the reports about these very days, newest first. One request per 100 reports made since the last
 * of them, and one for each of them whose entry does not show whom it was sent to: that it was sent to nobody
 * would have to be shown.
 */
export async function reportsAbout(
  { api, all }: Pick<JobApi, 'api' | 'all'>,
  period: Period,
  timezone: string,
): Promise<Map<string, Report[]>> {
  const query = { filters: { created_at: madeSince(period, timezone) }, sort: 'created_at,desc' };
  const found = new Map<string, Report[]>();
  for await (const entry of all('listReports', query)) {
    const report = showsWhatAbout(entry) ? entry : await completeReport(api, entry);
    const siteId = report?.site?.id;
    if (!report || siteId === undefined || !isAbout(report, period)) continue;
    const whole = report.email?.recipients ? report : await completeReport(api, report);
    if (whole) found.set(siteId, [...(found.get(siteId) ?? []), whole]);
  }
  return found;
}

/** Whether a list entry shows which site and days it is about. */
export const showsWhatAbout = ({ site, start_date, end_date }: Report): boolean =>
  site?.id !== undefined && start_date !== undefined && end_date !== undefined;

/**
 * A list entry with what it does not show and the report alone does; nothing when the report is gone. One
 * request.
 */
export async function completeReport(api: JobApi['api'], entry: Report): Promise<Report | undefined> {
  const report = await shownAlone({ api }, entry.id);
  return report && (completed(fieldsOfItem('listReports'), entry, report) as Report);
}

/** When reports about a period are made: not before its last day, by whichever clock. */
export function madeSince(period: Period, timezone: string): { gte: string } {
  const { from } = boundsOf({ start: period.end, end: period.end }, timezone);
  return { gte: new Date(from - CLOCKS_DIFFER_MS).toISOString() };
}

/** Whether two addresses are one. */
export const isSame = (one: string, other: string): boolean => one.toLowerCase() === other.toLowerCase();

/**
 * Whom the report on a site goes to, each once. `wanted` are addresses, or `client` for that of the site's
 * client.
 */
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
 * Whether a report has one of these subjects, where they tell reports apart. One that shows none may have.
 */
export const withSubject =
  (subjects: readonly string[] | undefined) =>
  ({ email }: Report): boolean =>
    !subjects || !email?.subject || subjects.includes(email.subject);

export interface MailsSoFar {
  /** Who has been sent none of the reports. */
  open: string[];
  /** Whose mails did not arrive, and those mails. */
  missed: string[];
  missedMails: EarlierMail[];
  /** How a site ends that nobody needs to be sent anything for. */
  end: End;
  /**
   * Those to whom one of the reports may have been sent that does not show to whom it was, and which it is.
   */
  untold: string[];
  silent?: string;
}

/** What became of the mails of these reports, newest first, for everybody who is asked for. */
export function mailsSoFar(asked: readonly string[], reports: readonly Report[]): MailsSoFar {
  const open: string[] = [];
  const missed: string[] = [];
  const missedMails: EarlierMail[] = [];
  const told: { good: string[]; bad: string[] } = { good: [], bad: [] };
  const silent = reports.filter(({ email }) => !email?.recipients);
  const untold: string[] = [];
  for (const address of asked) {
    const mails = reports.flatMap(({ id, email }) => {
      const mail = mailTo(email?.recipients ?? [], address);
      return mail ? [{ id, on: mail.sent_at?.slice(0, 10), miss: missOf(mail), mail }] : [];
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
      const { email, sent_at, status } = mail.mail;
      missedMails.push({ email, sent_at, status });
      told.bad.push(`${says}: ${mail.miss}.`);
    }
  }
  // By itself nothing is sent there again: mail to an address that bounces harms the sender.
  const end: End =
    missed.length > 0
      ? { is: 'failed', reason: 'undelivered', detail: told.bad.join(' ') }
      : { is: 'skipped', reason: 'already-done', detail: told.good.join(' ') };
  return { open, missed, missedMails, end, untold, ...(silent[0] ? { silent: silent[0].id } : {}) };
}

/** How a site ends of which the service does not show who has had its report. */
export const untoldEnd = (reportId: string, untold: readonly string[]): End => ({
  is: 'failed',
  reason: 'unknown-effect',
  detail: `The service does not show whom the report ${reportId} was sent to; it may have been sent to ${untold.join(', ')}, and nothing was sent now.`,
});

/** The service's own words about one refusal are cut to this. */
const MAX_REFUSAL = 200;

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
    .map((email) => `${email}: refused by the service: ${scrub(why(email)).slice(0, MAX_REFUSAL)}`);

/** Why a mail did not reach an address, in a sentence, and as a reason. */
export interface Miss {
  says: string;
  reason: Reason;
}

/**
 * The addresses that a report has not arrived at, by a last look at it, now that it is no longer waited for.
 */
export const overdue = (
  to: readonly string[],
  { email }: Report,
  { withinMs, before }: { withinMs: number; before?: readonly EarlierMail[] | undefined },
): Miss[] =>
  to.flatMap((address): Miss[] => {
    const mails = email?.recipients ?? [];
    // Where no times are shown, what became of this mail and of the one before it looks the same.
    const timeless = mails.filter(({ sent_at }) => !sent_at);
    const mail = newMailTo(mails, address, before) ?? mailTo(timeless, address);
    if (mail?.status === 'delivered' || mail?.status === 'opened') return [];
    const miss = mail && missOf(mail);
    if (miss !== undefined) return [{ says: `${address}: ${miss}.`, reason: 'undelivered' }];
    const why = mail ? 'not delivered' : 'the service did not show what became of the mail';
    return [{ says: `${address}: ${why} within ${formatDuration(withinMs)}.`, reason: 'timeout' }];
  });
