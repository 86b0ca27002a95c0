/**
 * Following the mails of reports (spec 2.11 and 4.9) to their recipients. Reports have no moment of their
 * last change, so a sweep lists those made since the oldest in flight; what was made long before it was sent
 * is looked at alone.
 */

import { isoTime, timeOf } from '../../src/clock.ts';
import type { Item } from '../../src/contract/operations.ts';
import type { Api } from '../../src/job/api.ts';
import type { Watch } from '../../src/job/job.ts';
import { problemWith } from '../../src/job/problem.ts';
import { doneAs, type Lost, type Verdict, type WatchKind } from '../../src/job/watch/watch.ts';

/** A mail as it stood before another one went to the same address. */
export interface EarlierMail {
  email: string;
  sent_at?: string | null | undefined;
  status?: string | undefined;
}

/** What a watch of this kind holds. */
export interface MailWatch extends Watch {
  kind: 'mail';
  reportId: string;
  /** When the report was made, in milliseconds since 1970: lists of reports know no other moment. */
  madeAt: number;
  recipients: readonly string[];
  /** What had been sent to some of them before: that says nothing of the mail that is followed. */
  before?: readonly EarlierMail[];
}
type Report = Item<'listReports'>;
type Mail = NonNullable<NonNullable<Report['email']>['recipients']>[number];

/**
 * A report that is this much older than its mail would make every sweep list all that was made in between.
 */
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
  keyOfItem: (report) => report.id,
  keyOf: (watch) => watch.reportId,
  evaluate: judge,
  async poll(api, watch) {
    const report = await reportOf(api, watch.reportId);
    return report ? judge(watch, report) : lost;
  },
};

const lost: Lost = { is: 'lost', detail: 'The report is no longer in the account (HTTP 404).' };

function madeSince(watches: readonly MailWatch[], from: string): string {
  const fresh = watches.filter(({ since, madeAt }) => since - madeAt < FRESH_MS);
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

function judge(watch: MailWatch, report: Pick<Report, 'email'>): Verdict {
  const mails = report.email?.recipients;
  if (mails === undefined) return { is: 'unclear' };
  const states = watch.recipients.map((email) => ({
    email,
    state: stateOf(watch, mails, email),
  }));
  if (states.some(({ state }) => state === 'under way')) return { is: 'running' };
  const missed = states.filter(({ state }) => state !== 'delivered');
  if (missed.length === 0) return doneAs(watch);
  const detail = missed.map(({ email, state }) => `${email}: ${state}.`).join(' ');
  return { is: 'failed', reason: 'undelivered', detail };
}

/** The mail to an address, however the service writes it. */
export const mailTo = <M extends { email: string }>(mails: readonly M[], email: string): M | undefined =>
  mails.find((mail) => mail.email.toLowerCase() === email.toLowerCase());

/**
 * The mail to an address, unless it is the one that went there `before`: a report shows one mail for each
 * address, the last.
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

/**
 * By when they were sent, whose clock that was does not matter; where neither shows it, by what became of
 * them.
 */
function isSameMail(one: EarlierMail, other: EarlierMail): boolean {
  const [sent, sentBefore] = [timeOf(one.sent_at), timeOf(other.sent_at)];
  if (!sent && !sentBefore) return one.status === other.status;
  return !!sent && !!sentBefore && sent.earliest <= sentBefore.latest && sentBefore.earliest <= sent.latest;
}

/** What a mail came to that will not arrive any more; nothing while it may, and when it has. */
export function missOf(mail: Pick<Mail, 'status'>): string | undefined {
  switch (mail.status) {
    case 'bounced':
      return 'the mail bounced';
    case 'failed':
      return 'the mail could not be sent';
    case 'spam':
      return 'the mail was taken for spam';
    default:
      return undefined;
  }
}

function stateOf({ before }: MailWatch, mails: readonly Mail[], email: string): string {
  const mail = newMailTo(mails, email, before);
  if (!mail) return 'under way';
  if (mail.status === 'delivered' || mail.status === 'opened') return 'delivered';
  return missOf(mail) ?? 'under way';
}
