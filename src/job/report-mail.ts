/** The mail of a report (spec 4.9): sending it, and saying whom it reached. */
import type { Intent } from '../run/run.ts';
import type { Acting, Answer, Reconciled } from './job.ts';
import { fillIn, fillInLine, type MailFacts } from './mail-text.ts';
import { problemWith } from './problem.ts';
import { CLOCK_SLACK_MS } from './report-making.ts';
import type { Memo, Step } from './report-memo.ts';
import { isSame, type Miss, overdue, readSent, refusals } from './report-recipients.ts';
import { mailTo } from './watch-mail.ts';

/** What a policy may say about its mails. */
interface MailOptions {
  subject?: string | undefined;
  body?: string | undefined;
  attach_pdf?: boolean | undefined;
  /** In milliseconds. */
  delivery_timeout: number;
  resend_to_client: boolean;
}
type Mailing = Acting<MailOptions, Memo>;

/** Sends the report to those of its memo. */
export async function send({ api, options, now }: Mailing, memo: Step<'send'>): Promise<Answer<Memo>> {
  const { subject, body, attach_pdf } = options;
  const facts = memo.facts as MailFacts;
  const mail = {
    recipients: memo.to,
    sender_email: { id: memo.senderId },
    ...(subject === undefined ? {} : { subject: fillInLine(subject, facts) }),
    ...(body === undefined ? {} : { body: fillIn(body, facts) }),
    ...(attach_pdf === undefined ? {} : { attach_pdf }),
  };
  try {
    const input = { report_id: memo.report.id, body: { send_email: mail } };
    const { taken, refused } = readSent(memo.to, (await api.sendReportEmail(input)).send_email);
    return mailed(memo, taken, refused, { now, options });
  } catch (error) {
    if (!problemWith(error).gone) throw error;
    return {
      is: 'skipped',
      reason: 'gone',
      detail: `The report ${memo.report.id} was deleted before it was sent.`,
    };
  }
}

/** What comes after a mail was sent to `taken`, and not to those that were refused. */
function mailed(
  memo: Step<'send'>,
  taken: readonly string[],
  refused: string[],
  { now, options }: Pick<Mailing, 'now' | 'options'>,
): Answer<Memo> {
  const next = { ...memo, step: 'tell', refused } as const;
  if (taken.length === 0) return { is: 'next', memo: next };
  const { id, madeAt } = memo.report;
  const again = memo.again ? { again: memo.again } : {};
  const until = now + options.delivery_timeout;
  const watch = {
    kind: 'mail',
    reportId: id,
    madeAt,
    recipients: taken,
    since: now,
    until,
    ...again,
  } as const;
  return { is: 'following', watch, next };
}

/** What became of a mail whose answer was lost. */
export async function adoptMail(
  acting: Mailing,
  memo: Step<'send'>,
  intent: Intent,
): Promise<Reconciled<Memo>> {
  const since = intent.at - CLOCK_SLACK_MS;
  const { report } = await acting.api.showReport({ report_id: memo.report.id });
  const mails = report.email?.recipients;
  if (!mails) return { is: 'unknown', detail: 'The service does not tell to whom the report was sent.' };
  const taken = memo.to.filter((email) => {
    const mail = mailTo(mails, email);
    return mail && !(memo.again && Date.parse(mail.sent_at ?? '') < since);
  });
  if (taken.length === 0) return { is: 'absent' };
  // A request that reached one of them was carried out whole.
  const refused = refusals(memo.to, taken, () => 'in an answer that was lost.');
  return mailed(memo, taken, refused, { ...acting, now: intent.at });
}

/** Says what became of the mails; when some did not arrive, perhaps sends to the client's address of today instead. */
export async function tell(acting: Mailing, memo: Step<'tell'>): Promise<Answer<Memo>> {
  const { api, target, options } = acting;
  const { instead = [], refused, report } = memo;
  const missed = await missesOf(acting, memo);
  const misses = [...refused, ...missed.map(({ says }) => says)];
  if (misses.length === 0) {
    const findings = instead.map((says) => ({ severity: 'warning' as const, about: target.label, says }));
    const how = instead.length > 0 ? " It went to the client's address on file instead." : '';
    return { is: 'done', reason: 'done', detail: `The report ${report.id} was delivered.${how}`, findings };
  }
  if (options.resend_to_client && memo.clientId !== undefined && !memo.instead) {
    const { email } = (await api.showClient({ client_id: memo.clientId })).client;
    if (email && !memo.asked.some((one) => isSame(one, email))) {
      const { again: _, ...rest } = memo;
      return { is: 'next', memo: { ...rest, step: 'send', to: [email], instead: misses } };
    }
  }
  // A mail that the service gave up says more than one that is still on its way.
  const reasons = missed.map((miss) => miss.reason);
  const reason = reasons.includes('undelivered') ? 'undelivered' : (reasons[0] ?? 'rejected');
  return { is: 'failed', reason, detail: [...instead, ...misses].join(' ') };
}

/** Whom the followed mail did not reach. */
async function missesOf({ api, options, ended }: Mailing, { to, report }: Step<'tell'>): Promise<Miss[]> {
  if (!ended || ended.is === 'done') return [];
  const { reason, detail = 'Nothing is known of the mail any more.' } = ended;
  if (reason !== 'timeout') return [{ reason, says: detail }];
  try {
    // The last sweep may have been before its end.
    const shown = await api.showReport({ report_id: report.id });
    return overdue(to, shown.report, options.delivery_timeout);
  } catch (error) {
    if (!problemWith(error).gone) throw error;
    return [{ reason, says: `The report ${report.id} was deleted before its mail was delivered.` }];
  }
}
