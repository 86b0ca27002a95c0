/**
 * When two reports, or two mails, are the same: the keys that a target has to claim before it makes or sends
 * one, so that only one target of all runs does it.
 *
 * The account alone cannot show this. Lists show a new report seconds late, a report does not show its
 * template, and the specification does not say which subject a new report has.
 */
import { createHash } from 'node:crypto';
import { timeOf } from '../../src/clock.ts';
import type { Item } from '../../src/contract/operations.ts';
import type { Answer } from '../../src/job/answer.ts';
import type { Acting, Holder } from '../../src/job/job.ts';
import { problemWith } from '../../src/job/problem.ts';
import { type Period, type PeriodOption, periodIn } from './period.ts';
import type { Mailing, State } from './state.ts';
import { mailTo } from './watch-mail.ts';

type Report = Item<'listReports'>;

/** The options that decide when two reports on the same site and days are different. */
export interface DedupeOptions {
  dedupe_by: 'period' | 'subject';
  subject?: string | undefined;
}

/** Together with site and days, identifies a policy's report: its template and, if it decides, its subject. */
export const scopeOf = (templateId: string, { dedupe_by, subject = '' }: DedupeOptions): string =>
  dedupe_by === 'period' ? templateId : `${templateId} ${digest(subject)}`;

/** The key of one report of a scope on a site and days. Its result is the id of the report. */
export const reportKey = (siteId: string, { start, end }: Period, scope: string): string =>
  `report:${siteId}:${start}:${end}:${scope}`;

/**
 * The key of the report, of any scope, that is being made on a site and days. Only one is made at a time,
 * because nothing shows which task made which report. Its result is `requested <scope>` from the request on, and
 * `made <id>` when the report was found.
 */
export const makingKey = (siteId: string, { start, end }: Period): string =>
  `report-making:${siteId}:${start}:${end}`;
export const requestedFor = (scope: string): string => `requested ${scope}`;

/** The key whose result is the scope that a report was made for. */
export const scopeKey = (reportId: string): string => `report-scope:${reportId}`;

/**
 * The key of one mail about a site and days to an address. Its result is the id of the report that was sent.
 * With `dedupe_by: subject` there is one for each scope, and with `earlier` one for each repeated mail.
 */
function mailKey(
  siteId: string,
  { start, end }: Period,
  scope: string,
  { dedupe_by }: Pick<DedupeOptions, 'dedupe_by'>,
  email: string,
  earlier = '',
): string {
  // The address is hashed, so that it is not stored longer than it is needed.
  const of = digest(`${email.toLowerCase()}\n${dedupe_by === 'period' ? '' : scope}\n${earlier}`);
  return `mail:${siteId}:${start}:${end}:${of}`;
}

const digest = (text: string): string => createHash('sha256').update(text).digest('base64url').slice(0, 22);

/** Whether a report has a scope: by our records or, if it is not in them, by `looksOurs`. */
export const isOfScope = (
  report: Report,
  scope: string,
  recorded: string | undefined,
  looksOurs: (report: Report) => boolean,
): boolean => (recorded === undefined ? looksOurs(report) : recorded === scope);

/** After a holder ended, its lost request may still arrive, and lists may be late, for this long at most. */
const SETTLE_MS = 60_000;
const ASK_AGAIN_MS = 15_000;

/** Until when to wait for another holder; `undefined` when it has certainly stopped and its key can be taken. */
export function waitUntil({ endedAt }: Holder, now: number): number | undefined {
  if (endedAt === undefined) return now + ASK_AGAIN_MS;
  return now < endedAt + SETTLE_MS ? endedAt + SETTLE_MS : undefined;
}

export const waitForHolder = (
  what: string,
  holder: Holder,
  until: number,
): Extract<Answer<never>, { is: 'waiting' }> => ({
  is: 'waiting',
  reason: 'conflict',
  detail: `The run ${holder.run} ${holder.endedAt === undefined ? 'is' : 'was'} ${what}; this target waits for its end.`,
  until,
});

/** A report from its single view; `undefined` when it is gone. */
export async function showReport(
  { api }: Pick<Acting<unknown>, 'api'>,
  id: string,
): Promise<Report | undefined> {
  try {
    return (await api.showReport({ report_id: id })).report;
  } catch (error) {
    if (problemWith(error).gone) return undefined;
    throw error;
  }
}

// Which recipients of a report are left, before it is made. With `dedupe_by: period`, each address is sent one report
// about a site and days, whichever policy makes it: one for addresses that were sent another would never be sent.

type Claiming = Acting<{ period: PeriodOption } & DedupeOptions, State>;

/** The key of the mail to an address; see `mailKey`. */
export const mailKeyIn = (
  { target, options, ...acting }: Claiming,
  state: Pick<Mailing, 'before' | 'scope'>,
  email: string,
): string => {
  const old = mailTo(state.before ?? [], email);
  const earlier = old && `${old.status} ${timeOf(old.sent_at)?.earliest}`;
  return mailKey(target.id, periodIn({ options, ...acting }), state.scope, options, email, earlier);
};

/**
 * Claims the right to make a report for each recipient who was not sent one. Gives the answer instead when another
 * target is making one for some of them, or has sent one to all. One request for each that was sent one.
 */
export async function claimRecipients(acting: Claiming, state: Mailing): Promise<Answer<State> | undefined> {
  if (acting.options.dedupe_by !== 'period') return undefined;
  const { once, now } = acting;
  let sent: string | undefined;
  let isOpen = false;
  // In a fixed order: two targets never wait for each other.
  for (const email of state.to.toSorted()) {
    const key = mailKeyIn(acting, state, email);
    const [reportId] = await once.results([key]);
    if (reportId !== undefined && (await showReport(acting, reportId))) {
      sent = reportId;
      continue;
    }
    const making = `making for ${key}`;
    const holder = await once.claim(making);
    const isOver = !holder.isOurs && holder.endedAt !== undefined;
    const turn = isOver ? await once.claim(making, holder) : holder;
    if (!turn.isOurs)
      return waitForHolder('making a report for the same recipient', turn, waitUntil(turn, now) ?? now);
    isOpen = true;
  }
  if (isOpen || sent === undefined) return undefined;
  const detail = `The report ${sent} was sent to ${state.to.join(', ')} by another run. None was made.`;
  return { is: 'skipped', reason: 'already-done', detail };
}
