/**
 * The recipients of a report on a site, and what the account shows about mails that they were sent before (spec
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
import { showReport } from './claims.ts';
import { type MailFacts, mailValue } from './mail-text.ts';
import { boundsOf, formatPeriod, type Period } from './period.ts';
import { type EarlierMail, failureOf, mailTo, newMailTo } from './watch-mail.ts';

type Site = Item<'listSites'>;
type Report = Item<'listReports'>;

/** The largest difference between our clock and another that is allowed for. */
const CLOCKS_DIFFER_MS = 3_600_000;

export const isAbout = ({ start_date, end_date }: Report, { start, end }: Period): boolean =>
  start_date === start && end_date === end;

/**
 * By site: the reports about exactly these days, newest first. Costs one request per 100 reports created since
 * the last day, and one for each report about the days whose list entry does not show its recipients. Recipients
 * that are not shown do not mean that there are none.
 */
export async function reportsAbout(
  { api, all }: Pick<JobApi, 'api' | 'all'>,
  period: Period,
  timezone: string,
): Promise<Map<string, Report[]>> {
  const query = { filters: { created_at: createdSince(period, timezone) }, sort: 'created_at,desc' };
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

/** A list entry completed from the single view; `undefined` when the report is gone. One request. */
export async function completeReport(api: JobApi['api'], entry: Report): Promise<Report | undefined> {
  const report = await showReport({ api }, entry.id);
  return report && (completed(fieldsOfItem('listReports'), entry, report) as Report);
}

/** A filter for reports about a period: they are created on its last day at the earliest, by any clock. */
export function createdSince(period: Period, timezone: string): { gte: string } {
  const { from } = boundsOf({ start: period.end, end: period.end }, timezone);
  return { gte: new Date(from - CLOCKS_DIFFER_MS).toISOString() };
}

/** Whether two addresses are the same. */
export const isSame = (one: string, other: string): boolean => one.toLowerCase() === other.toLowerCase();

/** The recipients of the report on a site, without duplicates. In `wanted`, `client` is the site's client. */
export function addressesOf({ client }: Site, wanted: readonly string[]): string[] {
  const theirs = client?.email ? [client.email] : [];
  const all = wanted.flatMap((one) => (one === 'client' ? theirs : [one]));
  return all.filter((one, at) => all.findIndex((other) => isSame(other, one)) === at);
}

/** Why a site has no recipient. */
export const whyNoRecipient = ({ client }: Site): string =>
  client ? 'The client of the site has no email address.' : 'The site has no client.';

/** The values of the variables for a mail about a site. */
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
    'period.name': formatPeriod(period, language),
    'period.start': period.start,
    'period.end': period.end,
  };
}

/**
 * Whether a report has, or may have, one of these subjects, which may be redacted. Without `subjects`, every report
 * qualifies.
 */
export const withSubject =
  (subjects: readonly string[] | undefined) =>
  ({ email }: Report): boolean =>
    !subjects || !email?.subject || subjects.map(scrub).includes(scrub(email.subject));

export interface MailsSoFar {
  /** The recipients who were sent none of the reports. */
  open: string[];
  /** The recipients whose mails were not delivered, and those mails. */
  missed: string[];
  missedMails: EarlierMail[];
  /** The end of the site if nothing has to be sent. */
  end: End;
  /** The recipients to whom `silent` may have been sent: a report that does not show its recipients. */
  unconfirmed: string[];
  silent?: string;
}

/** The status of the mails of these reports, newest first, for each recipient. */
export function mailsSoFar(recipients: readonly string[], reports: readonly Report[]): MailsSoFar {
  const open: string[] = [];
  const missed: string[] = [];
  const missedMails: EarlierMail[] = [];
  const told: { good: string[]; bad: string[] } = { good: [], bad: [] };
  const silent = reports.filter(({ email }) => !email?.recipients);
  const unconfirmed: string[] = [];
  for (const address of recipients) {
    const mails = reports.flatMap(({ id, email }) => {
      const mail = mailTo(email?.recipients ?? [], address);
      return mail ? [{ id, on: mail.sent_at?.slice(0, 10), miss: failureOf(mail), mail }] : [];
    });
    const mail = mails.find(({ miss }) => miss === undefined) ?? mails[0];
    if (!mail) {
      (silent.length > 0 ? unconfirmed : open).push(address);
      continue;
    }
    const message = `The report ${mail.id} was sent to ${address}${mail.on ? ` on ${mail.on}` : ''}`;
    if (mail.miss === undefined) told.good.push(`${message}.`);
    else {
      missed.push(address);
      const { email, sent_at, status } = mail.mail;
      missedMails.push({ email, sent_at, status });
      told.bad.push(`${message}: ${mail.miss}.`);
    }
  }
  // Nothing is sent to such an address again automatically: repeated bounces harm the sender's reputation.
  const end: End =
    missed.length > 0
      ? { is: 'failed', reason: 'undelivered', detail: told.bad.join(' ') }
      : { is: 'skipped', reason: 'already-done', detail: told.good.join(' ') };
  return { open, missed, missedMails, end, unconfirmed, ...(silent[0] ? { silent: silent[0].id } : {}) };
}

/** The end of a site whose report does not show its recipients. */
export const unknownRecipientsEnd = (reportId: string, unconfirmed: readonly string[]): End => ({
  is: 'failed',
  reason: 'unknown-effect',
  detail: `The service does not show whom the report ${reportId} was sent to; it may have been sent to ${unconfirmed.join(', ')}, and nothing was sent now.`,
});

/** The maximum length of the service's message about a refused address. */
const MAX_REFUSAL = 200;

/** The addresses that the service accepted, and a sentence for each that it refused. */
export function readSent(
  to: readonly string[],
  { recipients, errors = [] }: Answer<'sendReportEmail'>['send_email'],
): { taken: string[]; refused: string[] } {
  const refusal = (email: string) =>
    errors.find((one) => isSame(one.id ?? one.email ?? '', email)) ??
    errors.find(({ message }) => message?.toLowerCase().includes(email.toLowerCase()));
  const whyOf = (email: string) => {
    const { message, code } = refusal(email) ?? {};
    return message ?? code ?? 'it gave no reason.';
  };
  const isTaken = (email: string) => recipients?.some((one) => isSame(one, email)) ?? !refusal(email);
  const taken = to.filter(isTaken);
  return { taken, refused: refusals(to, taken, whyOf) };
}

/** A sentence for each address that was not accepted. */
export const refusals = (
  to: readonly string[],
  taken: readonly string[],
  why: (email: string) => string,
): string[] =>
  to
    .filter((email) => !taken.includes(email))
    .map((email) => `${email}: refused by the service: ${scrub(why(email)).slice(0, MAX_REFUSAL)}`);

/** Why a mail was not delivered to an address: as a sentence and as a reason. */
export interface DeliveryFailure {
  message: string;
  reason: Reason;
}

/** The addresses to which a report was not delivered in time, according to a last reading of the report. */
export const overdue = (
  to: readonly string[],
  { email }: Report,
  { withinMs, before }: { withinMs: number; before?: readonly EarlierMail[] | undefined },
): DeliveryFailure[] =>
  to.flatMap((address): DeliveryFailure[] => {
    const mails = email?.recipients ?? [];
    // Without times, this mail cannot be distinguished from the one before it.
    const timeless = mails.filter(({ sent_at }) => !sent_at);
    const mail = newMailTo(mails, address, before) ?? mailTo(timeless, address);
    if (mail?.status === 'delivered' || mail?.status === 'opened') return [];
    const miss = mail && failureOf(mail);
    if (miss !== undefined) return [{ message: `${address}: ${miss}.`, reason: 'undelivered' }];
    const why = mail ? 'not delivered' : 'the service did not show the status of the mail';
    const message = `${address}: ${why} within ${formatDuration(withinMs)}.`;
    return [{ message, reason: mail ? 'timeout' : 'unconfirmed' }];
  });
