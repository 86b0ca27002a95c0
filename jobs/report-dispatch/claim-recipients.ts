/**
 * Which recipients of a report are left, before it is made. With `dedupe_by: period`, each address is sent one report
 * about a site and days, whichever policy makes it: one for addresses that were sent another would never be sent.
 */
import { timeOf } from '../../src/clock.ts';
import type { Answer } from '../../src/job/answer.ts';
import type { Acting } from '../../src/job/job.ts';
import { type DedupeOptions, mailKey, showReport, waitForHolder, waitUntil } from './claims.ts';
import { type PeriodOption, periodIn } from './period.ts';
import type { Mailing, State } from './state.ts';
import { mailTo } from './watch-mail.ts';

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
