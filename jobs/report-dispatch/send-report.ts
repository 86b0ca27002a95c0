/** Sends a report by mail (spec 4.9), and reports whether it was delivered. */
import type { Answer, Reconciled } from '../../src/job/answer.ts';
import type { Acting, Intent } from '../../src/job/job.ts';
import { problemWith } from '../../src/job/problem.ts';
import { type DedupeOptions, mailKeyIn, showReport, waitForHolder, waitUntil } from './claims.ts';
import { fillIn, fillInLine, type MailFacts } from './mail-text.ts';
import type { PeriodOption } from './period.ts';
import {
  type DeliveryFailure,
  isSame,
  overdue,
  readSent,
  refusals,
  unknownRecipientsEnd,
} from './recipients.ts';
import type { State, Step } from './state.ts';
import { newMailTo } from './watch-mail.ts';

/** The options of the policy that concern mails. */
interface MailOptions extends DedupeOptions {
  period: PeriodOption;
  subject?: string | undefined;
  body?: string | undefined;
  attach_pdf?: boolean | undefined;
  /** In milliseconds. */
  delivery_timeout: number;
  resend_to_client: boolean;
}
type Mailing = Acting<MailOptions, State>;

/** Sends the report to the recipients of its state, except those to whom another target sends it. */
export async function send(acting: Mailing, state: Step<'send'>): Promise<Answer<State>> {
  const { api, options, now } = acting;
  const claims = await claimMails(acting, state);
  if ('instead' in claims) return claims.instead;
  const { to } = claims;
  const { subject, body, attach_pdf } = options;
  const facts = state.facts as MailFacts;
  const mail = {
    recipients: to,
    sender_email: { id: state.senderId },
    ...(subject === undefined ? {} : { subject: fillInLine(subject, facts) }),
    ...(body === undefined ? {} : { body: fillIn(body, facts) }),
    ...(attach_pdf === undefined ? {} : { attach_pdf }),
  };
  try {
    const input = { report_id: state.report.id, body: { send_email: mail } };
    const { taken, refused } = readSent(to, (await api.sendReportEmail(input)).send_email);
    await noteMails(acting, state, taken);
    return mailed({ ...state, to }, taken, refused, { now, options });
  } catch (error) {
    if (!problemWith(error).gone) throw error;
    return {
      is: 'skipped',
      reason: 'gone',
      detail: `The report ${state.report.id} was deleted before it was sent.`,
    };
  }
}

/** Records that the report was sent to these addresses. */
async function noteMails(acting: Mailing, state: Step<'send'>, taken: readonly string[]): Promise<void> {
  for (const email of taken) await acting.once.note(mailKeyIn(acting, state, email), state.report.id);
}

/** Claims the mails of a state. Gives the claimed addresses, or an answer if there is nothing to send. */
async function claimMails(
  acting: Mailing,
  state: Step<'send'>,
): Promise<{ to: string[] } | { instead: Answer<State> }> {
  const [to, had, unconfirmed]: [string[], string[], string[]] = [[], [], []];
  let waits: Answer<State> | undefined;
  for (const email of state.to) {
    const claim = await claimMail(acting, state, email);
    if (claim === 'own') to.push(email);
    else if (claim === 'sent') had.push(email);
    else if (claim === 'unconfirmed') unconfirmed.push(email);
    else waits = claim;
  }
  if (unconfirmed.length > 0) return { instead: unknownRecipientsEnd(state.report.id, unconfirmed) };
  if (to.length > 0) return { to };
  if (waits) return { instead: waits };
  const detail = `The report ${state.report.id} was sent to ${had.join(', ')} by another run.`;
  return { instead: { is: 'skipped', reason: 'already-done', detail } };
}

/** Claims one mail: it is ours to send, was sent already, may have been sent, or has to be waited for. */
async function claimMail(
  acting: Mailing,
  state: Step<'send'>,
  email: string,
): Promise<'own' | 'sent' | 'unconfirmed' | Answer<State>> {
  const { once, now } = acting;
  const key = mailKeyIn(acting, state, email);
  if (state.unconfirmed?.includes(email)) {
    const [sent] = await once.results([key]);
    if (sent !== undefined) return 'sent';
    const shown = await isShownSent(acting, state, state.report.id, email);
    if (shown !== 'no') return shown === 'yes' ? 'sent' : 'unconfirmed';
  }
  const holder = await once.claim(key);
  if (holder.isOurs) return 'own';
  const shown = await isShownSent(acting, state, holder.result ?? state.report.id, email);
  if (shown === 'yes') return 'sent';
  // Our record shows that it was sent. It counts, unless that report was deleted since.
  if (holder.result !== undefined && shown !== 'gone') return 'sent';
  const until = holder.result === undefined ? waitUntil(holder, now) : undefined;
  if (until !== undefined) return waitForHolder('sending the same report', holder, until);
  if (shown === 'unknown') return 'unconfirmed';
  const taken = await once.claim(key, holder);
  return taken.isOurs ? 'own' : waitForHolder('sending the same report', taken, waitUntil(taken, now) ?? now);
}

/** Whether the single view of a report shows a mail to an address, other than the one that is repeated. */
async function isShownSent(
  acting: Mailing,
  state: Step<'send'>,
  reportId: string,
  email: string,
): Promise<'yes' | 'no' | 'unknown' | 'gone'> {
  const report = await showReport(acting, reportId);
  if (!report) return 'gone';
  const mails = report.email?.recipients;
  if (!mails) return 'unknown';
  return newMailTo(mails, email, state.before) ? 'yes' : 'no';
}

/** The answer after a mail was sent to the addresses `taken`, while others were refused. */
function mailed(
  state: Step<'send'>,
  taken: readonly string[],
  refused: string[],
  { now, options }: Pick<Mailing, 'now' | 'options'>,
): Answer<State> {
  const next = { ...state, step: 'report', refused } as const;
  if (taken.length === 0) return { is: 'next', state: next };
  const { id, madeAt } = state.report;
  const before = state.before ? { before: state.before } : {};
  const until = now + options.delivery_timeout;
  const watch = {
    kind: 'mail',
    reportId: id,
    madeAt,
    recipients: taken,
    since: now,
    until,
    ...before,
  } as const;
  return { is: 'following', watch, next };
}

/** Finds out whether a mail was sent whose answer was lost. */
export async function adoptMail(
  acting: Mailing,
  state: Step<'send'>,
  intent: Intent,
): Promise<Reconciled<State>> {
  const { report } = await acting.api.showReport({ report_id: state.report.id });
  const mails = report.email?.recipients;
  if (!mails) return { is: 'unknown', detail: 'The service does not show whom the report was sent to.' };
  // Addresses that are not ours were left to another target.
  const to: string[] = [];
  for (const email of state.to)
    if ((await acting.once.claim(mailKeyIn(acting, state, email))).isOurs) to.push(email);
  const taken = to.filter((email) => newMailTo(mails, email, state.before));
  if (taken.length === 0) return { is: 'absent' };
  await noteMails(acting, state, taken);
  // If one address was sent the mail, the whole request was carried out.
  const refused = refusals(to, taken, () => 'in an answer that was lost.');
  return mailed({ ...state, to }, taken, refused, { ...acting, now: intent.at });
}

/**
 * Reports whether the mails were delivered. If not, and the policy allows it, sends the report to the client's
 * current address.
 */
export async function reportDelivery(acting: Mailing, state: Step<'report'>): Promise<Answer<State>> {
  const { api, target, options } = acting;
  const { instead = [], refused, report } = state;
  const undelivered = await failuresOf(acting, state);
  const failures = [...refused, ...undelivered.map(({ message }) => message)];
  if (failures.length === 0) {
    const findings = instead.map((message) => ({
      severity: 'warning' as const,
      about: target.label,
      message,
    }));
    const how = instead.length > 0 ? " It went to the client's address on file instead." : '';
    const which = state.adopted ? ', which was already in the account,' : '';
    const detail = `The report ${report.id}${which} was delivered.${how}`;
    return { is: 'done', reason: 'done', detail, findings };
  }
  if (options.resend_to_client && state.clientId !== undefined && !state.instead) {
    const { email } = (await api.showClient({ client_id: state.clientId })).client;
    if (email && !state.recipients.some((one) => isSame(one, email))) {
      const { before: _, unconfirmed: _unconfirmed, ...rest } = state;
      return { is: 'next', state: { ...rest, step: 'send', to: [email], instead: failures } };
    }
  }
  // A mail that failed decides over one that is still in delivery.
  const reasons = undelivered.map((failure) => failure.reason);
  const reason = reasons.includes('undelivered') ? 'undelivered' : (reasons[0] ?? 'rejected');
  return { is: 'failed', reason, detail: [...instead, ...failures].join(' ') };
}

/** The addresses to which the followed mail was not delivered. */
async function failuresOf(
  { api, options, ended }: Mailing,
  { to, report, before }: Step<'report'>,
): Promise<DeliveryFailure[]> {
  if (!ended || ended.is === 'done') return [];
  const { reason, detail = 'The status of the mail is no longer known.' } = ended;
  if (reason !== 'timeout' && reason !== 'unconfirmed') return [{ reason, message: detail }];
  try {
    // The mail may have been delivered after the last sweep.
    const shown = await api.showReport({ report_id: report.id });
    return overdue(to, shown.report, { withinMs: options.delivery_timeout, before });
  } catch (error) {
    if (!problemWith(error).gone) throw error;
    return [{ reason, message: `The report ${report.id} was deleted before its mail was delivered.` }];
  }
}
