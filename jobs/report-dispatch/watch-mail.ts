/**
 * Follows the mails of reports (spec 2.11 and 4.9) until they are delivered. Reports have no time of their last
 * change, so a sweep lists all reports created since the oldest in flight. A report that was created long before
 * it was sent is read from its single view.
 */

import { isoTime, timeOf } from '../../src/clock.ts';
import type { Item } from '../../src/contract/operations.ts';
import type { Api } from '../../src/job/api.ts';
import type { Watch } from '../../src/job/job.ts';
import { problemWith } from '../../src/job/problem.ts';
import { type Lost, successVerdict, type Verdict, type WatchKind } from '../../src/job/watch/watch.ts';

/** A mail as the report showed it before another one was sent to the same address. */
export interface EarlierMail {
  email: string;
  sent_at?: string | null | undefined;
  status?: string | undefined;
}

/** The facts of a watch of this kind. */
export interface MailWatch extends Watch {
  kind: 'mail';
  reportId: string;
  /** When the report was created, in milliseconds since 1970: the only time by which reports can be filtered. */
  madeAt: number;
  recipients: readonly string[];
  /** Mails that were sent to these recipients before. Their status is not that of the followed mail. */
  before?: readonly EarlierMail[];
}
type Report = Item<'listReports'>;
type Mail = NonNullable<NonNullable<Report['email']>['recipients']>[number];

const FRESH_MS = 6 * 3_600_000;

export const mailWatch: WatchKind<MailWatch, Report> = {
  name: 'mail',
  label: (watch) => `The mail of the report ${watch.reportId}`,
  sweep: {
    operation: 'listReports',
    query: (watches, from) => ({
      filters: { created_at: { gte: madeSince(watches, from) } },
      sort: 'created_at,desc',
    }),
  },
  isSwept,
  keyOfItem: (report) => report.id,
  keyOf: (watch) => watch.reportId,
  evaluate,
  async poll(api, watch) {
    const report = await reportOf(api, watch.reportId);
    if (!report) return lost;
    const verdict = evaluate(watch, report);
    const listed = verdict.is === 'unclear' && (await listedReport(api, watch));
    return listed ? evaluate(watch, listed) : verdict;
  },
};

/** An older report would make every sweep list all reports that were created since: it is polled. */
function isSwept({ since, madeAt }: MailWatch): boolean {
  return since - madeAt < FRESH_MS;
}

/** The report as its list shows it, which can have what its single view does not show. */
async function listedReport(api: Api, { reportId, madeAt }: MailWatch): Promise<Report | undefined> {
  const created_at = { gte: isoTime(madeAt - 1_000), lte: isoTime(madeAt + 1_000) };
  const { reports } = await api.listReports({ filters: { created_at } });
  return reports.find(({ id }) => id === reportId);
}

const lost: Lost = { is: 'lost', detail: 'The report is no longer in the account (HTTP 404).' };

function madeSince(watches: readonly MailWatch[], from: string): string {
  const fresh = watches.filter(isSwept);
  return isoTime(Math.min(...fresh.map(({ madeAt }) => madeAt), Date.parse(from)));
}

async function reportOf(api: Api, report_id: string): Promise<Report | undefined> {
  try {
    return (await api.showReport({ report_id })).report;
  } catch (error) {
    if (problemWith(error).gone) return undefined;
    throw error;
  }
}

function evaluate(watch: MailWatch, report: Pick<Report, 'email'>): Verdict {
  const mails = report.email?.recipients;
  if (mails === undefined) return { is: 'unclear' };
  const states = watch.recipients.map((email) => ({
    email,
    state: stateOf(watch, mails, email),
  }));
  if (states.some(({ state }) => state === 'under way')) return { is: 'running' };
  const missed = states.filter(({ state }) => state !== 'delivered');
  if (missed.length === 0) return successVerdict(watch);
  const detail = missed.map(({ email, state }) => `${email}: ${state}.`).join(' ');
  return { is: 'failed', reason: 'undelivered', detail };
}

/** The mail to an address, in upper or lower case. */
export const mailTo = <M extends { email: string }>(mails: readonly M[], email: string): M | undefined =>
  mails.find((mail) => mail.email.toLowerCase() === email.toLowerCase());

/**
 * The mail to an address, unless it is the one that was sent `before`. A report shows only the last mail to each
 * address.
 */
export function newMailTo(
  mails: readonly Mail[],
  email: string,
  before: readonly EarlierMail[] = [],
): Mail | undefined {
  const mail = mailTo(mails, email);
  const old = mailTo(before, email);
  return mail && old && isSameMail(mail, old) ? undefined : mail;
}

/** Compares two mails by the time when they were sent or, if neither shows it, by their status. */
function isSameMail(one: EarlierMail, other: EarlierMail): boolean {
  const [sent, sentBefore] = [timeOf(one.sent_at), timeOf(other.sent_at)];
  if (!sent && !sentBefore) return one.status === other.status;
  return !!sent && !!sentBefore && sent.earliest <= sentBefore.latest && sentBefore.earliest <= sent.latest;
}

/** Why a mail will not be delivered; `undefined` if it was delivered or may still be. */
export function failureOf(mail: Pick<Mail, 'status'>): string | undefined {
  switch (mail.status) {
    case 'bounced':
      return 'the mail bounced';
    case 'failed':
      return 'the mail could not be sent';
    case 'spam':
      return 'the mail was reported as spam';
    default:
      return undefined;
  }
}

function stateOf({ before }: MailWatch, mails: readonly Mail[], email: string): string {
  const mail = newMailTo(mails, email, before);
  if (!mail) return 'under way';
  if (mail.status === 'delivered' || mail.status === 'opened') return 'delivered';
  return failureOf(mail) ?? 'under way';
}
