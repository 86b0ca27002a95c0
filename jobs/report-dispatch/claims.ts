/**
 * What makes two reports, or two mails, the same one: the keys under which only one target of all runs may
 * make or send it.
 *
 * The account alone cannot tell: lists show a new report seconds late, a report does not name its template,
 * and the specification does not say what subject a new one has.
 */
import { createHash } from 'node:crypto';
import type { Item } from '../../src/contract/operations.ts';
import type { Answer } from '../../src/job/answer.ts';
import type { Acting, Holder } from '../../src/job/job.ts';
import { problemWith } from '../../src/job/problem.ts';
import type { Period } from './period.ts';

type Report = Item<'listReports'>;

/** What of a policy's options tells its reports from others on the same site and days. */
export interface DedupeOptions {
  dedupe_by: 'period' | 'subject';
  subject?: string | undefined;
}

/**
 * What a policy's reports are told from others by, besides site and days: their template; and their subject,
 * for policies that tell reports apart by it.
 */
export const scopeOf = (templateId: string, { dedupe_by, subject = '' }: DedupeOptions): string =>
  dedupe_by === 'period' ? templateId : `${templateId} ${digest(subject)}`;

/** One report of a scope on a site and its days: its result is the report's id. */
export const reportKey = (siteId: string, { start, end }: Period, scope: string): string =>
  `report:${siteId}:${start}:${end}:${scope}`;

/**
 * The report that is being made on a site and its days, of whichever scope: one at a time, since nothing
 * shows which task made which. Its result is `asked <scope>` from the request on, and `made <id>` when the
 * report was found.
 */
export const makingKey = (siteId: string, { start, end }: Period): string =>
  `report-making:${siteId}:${start}:${end}`;
export const askedFor = (scope: string): string => `asked ${scope}`;

/** Which scope a report was made for, as the result. */
export const scopeKey = (reportId: string): string => `report-scope:${reportId}`;

/**
 * One mail about a site and days to an address: its result is the id of the report that was sent. For
 * policies that tell reports apart, one for each scope. With `earlier`, what is sent once more after that.
 */
export function mailKey(
  siteId: string,
  { start, end }: Period,
  scope: string,
  { dedupe_by }: Pick<DedupeOptions, 'dedupe_by'>,
  email: string,
  earlier = '',
): string {
  // Addresses are not kept for longer than they are needed.
  const of = digest(`${email.toLowerCase()}\n${dedupe_by === 'period' ? '' : scope}\n${earlier}`);
  return `mail:${siteId}:${start}:${end}:${of}`;
}

const digest = (text: string): string => createHash('sha256').update(text).digest('base64url').slice(0, 22);

/** Whether a report is of a scope: by our records, or, where they do not have it, by what it looks like. */
export const isOfScope = (
  report: Report,
  scope: string,
  recorded: string | undefined,
  looksOurs: (report: Report) => boolean,
): boolean => (recorded === undefined ? looksOurs(report) : recorded === scope);

/**
 * After a holder's end, so long its request may still arrive, and lists may not show what came of it: longer
 * than a lost request is on its way.
 */
const SETTLE_MS = 60_000;
const ASK_AGAIN_MS = 15_000;

/**
 * Until when to wait before what another target did not finish can be told from what it is still at; nothing
 * when one can.
 */
export function waitFor({ endedAt }: Holder, now: number): number | undefined {
  if (endedAt === undefined) return now + ASK_AGAIN_MS;
  return now < endedAt + SETTLE_MS ? endedAt + SETTLE_MS : undefined;
}

export const othersWork = (
  what: string,
  holder: Holder,
  until: number,
): Extract<Answer<never>, { is: 'waiting' }> => ({
  is: 'waiting',
  reason: 'conflict',
  detail: `The run ${holder.run} ${holder.endedAt === undefined ? 'is' : 'was'} ${what}; its end is waited for.`,
  until,
});

/** The report alone; nothing when it is gone. */
export async function shownAlone(
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
