/** The mail of a report (spec 4.9): sending it, and saying whom it reached. */
import { timeOf } from '../../src/clock.ts';
import type { Answer, Reconciled } from '../../src/job/answer.ts';
import type { Acting, Intent } from '../../src/job/job.ts';
import { problemWith } from '../../src/job/problem.ts';
import { type DedupeOptions, mailKey, othersWork, shownAlone, waitFor } from './claims.ts';
import { periodIn } from './create-report.ts';
import { fillIn, fillInLine, type MailFacts } from './mail-text.ts';
import type { PeriodWish } from './period.ts';
import { isSame, type Miss, overdue, readSent, refusals, untoldEnd } from './recipients.ts';
import type { State, Step } from './state.ts';
import { mailTo, newMailTo } from './watch-mail.ts';

/** What a policy may say about its mails. */
interface MailOptions extends DedupeOptions {
  period: PeriodWish;
  subject?: string | undefined;
  body?: string | undefined;
  attach_pdf?: boolean | undefined;
  /** In milliseconds. */
  delivery_timeout: number;
  resend_to_client: boolean;
}
type Mailing = Acting<MailOptions, State>;

/** Sends the report to those of its state whom no other target sends it. */
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

const keyIn = ({ target, options, ...acting }: Mailing, state: Step<'send'>, email: string): string => {
  const old = mailTo(state.before ?? [], email);
  const earlier = old && `${old.status} ${timeOf(old.sent_at)?.earliest}`;
  return mailKey(target.id, periodIn({ options, ...acting }), state.scope, options, email, earlier);
};

/** Writes down that the report was sent to these. */
async function noteMails(acting: Mailing, state: Step<'send'>, taken: readonly string[]): Promise<void> {
  for (const email of taken) await acting.once.note(keyIn(acting, state, email), state.report.id);
}

/**
 * Makes the mails of a state this target's; gives those that are, or the answer where there is nothing to
 * send.
 */
async function claimMails(
  acting: Mailing,
  state: Step<'send'>,
): Promise<{ to: string[] } | { instead: Answer<State> }> {
  const [to, had, untold]: [string[], string[], string[]] = [[], [], []];
  let waits: Answer<State> | undefined;
  for (const email of state.to) {
    const claim = await claimMail(acting, state, email);
    if (claim === 'ours') to.push(email);
    else if (claim === 'sent') had.push(email);
    else if (claim === 'untold') untold.push(email);
    else waits = claim;
  }
  if (untold.length > 0) return { instead: untoldEnd(state.report.id, untold) };
  if (to.length > 0) return { to };
  if (waits) return { instead: waits };
  const detail = `The report ${state.report.id} was sent to ${had.join(', ')} by another run.`;
  return { instead: { is: 'skipped', reason: 'already-done', detail } };
}

/**
 * Whose a mail is: this target's, to be sent; sent by another; nobody knows; or what to do until one knows.
 */
async function claimMail(
  acting: Mailing,
  state: Step<'send'>,
  email: string,
): Promise<'ours' | 'sent' | 'untold' | Answer<State>> {
  const { once, now } = acting;
  const key = keyIn(acting, state, email);
  if (state.untold?.includes(email)) {
    const [sent] = await once.results([key]);
    if (sent !== undefined) return 'sent';
    const shown = await isShownSent(acting, state, state.report.id, email);
    if (shown !== 'no') return shown === 'yes' ? 'sent' : 'untold';
  }
  const holder = await once.claim(key);
  if (holder.isOurs) return 'ours';
  const shown = await isShownSent(acting, state, holder.result ?? state.report.id, email);
  if (shown === 'yes') return 'sent';
  // It was sent, by our own record, whatever the report shows; unless that report was deleted since.
  if (holder.result !== undefined && shown !== 'gone') return 'sent';
  const until = holder.result === undefined ? waitFor(holder, now) : undefined;
  if (until !== undefined) return othersWork('sending the same report', holder, until);
  if (shown === 'unknown') return 'untold';
  const taken = await once.claim(key, holder);
  return taken.isOurs ? 'ours' : othersWork('sending the same report', taken, waitFor(taken, now) ?? now);
}

/** Whether a report, looked at alone, shows the mail to an address, other than the one that is repeated. */
async function isShownSent(
  acting: Mailing,
  state: Step<'send'>,
  reportId: string,
  email: string,
): Promise<'yes' | 'no' | 'unknown' | 'gone'> {
  const report = await shownAlone(acting, reportId);
  if (!report) return 'gone';
  const mails = report.email?.recipients;
  if (!mails) return 'unknown';
  return newMailTo(mails, email, state.before) ? 'yes' : 'no';
}

/** What comes after a mail was sent to `taken`, and not to those that were refused. */
function mailed(
  state: Step<'send'>,
  taken: readonly string[],
  refused: string[],
  { now, options }: Pick<Mailing, 'now' | 'options'>,
): Answer<State> {
  const next = { ...state, step: 'tell', refused } as const;
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

/** What became of a mail whose answer was lost. */
export async function adoptMail(
  acting: Mailing,
  state: Step<'send'>,
  intent: Intent,
): Promise<Reconciled<State>> {
  const { report } = await acting.api.showReport({ report_id: state.report.id });
  const mails = report.email?.recipients;
  if (!mails) return { is: 'unknown', detail: 'The service does not show whom the report was sent to.' };
  // The others were another target's to send.
  const to: string[] = [];
  for (const email of state.to)
    if ((await acting.once.claim(keyIn(acting, state, email))).isOurs) to.push(email);
  const taken = to.filter((email) => newMailTo(mails, email, state.before));
  if (taken.length === 0) return { is: 'absent' };
  await noteMails(acting, state, taken);
  // A request that reached one of them was carried out whole.
  const refused = refusals(to, taken, () => 'in an answer that was lost.');
  return mailed({ ...state, to }, taken, refused, { ...acting, now: intent.at });
}

/**
 * Says what became of the mails; when some did not arrive, perhaps sends to the client's address of today
 * instead.
 */
export async function tell(acting: Mailing, state: Step<'tell'>): Promise<Answer<State>> {
  const { api, target, options } = acting;
  const { instead = [], refused, report } = state;
  const missed = await missesOf(acting, state);
  const misses = [...refused, ...missed.map(({ says }) => says)];
  if (misses.length === 0) {
    const findings = instead.map((message) => ({
      severity: 'warning' as const,
      about: target.label,
      message,
    }));
    const how = instead.length > 0 ? " It went to the client's address on file instead." : '';
    const which = state.adopted ? ', which was in the account already,' : '';
    const detail = `The report ${report.id}${which} was delivered.${how}`;
    return { is: 'done', reason: 'done', detail, findings };
  }
  if (options.resend_to_client && state.clientId !== undefined && !state.instead) {
    const { email } = (await api.showClient({ client_id: state.clientId })).client;
    if (email && !state.asked.some((one) => isSame(one, email))) {
      const { before: _, untold: _told, ...rest } = state;
      return { is: 'next', state: { ...rest, step: 'send', to: [email], instead: misses } };
    }
  }
  // A mail that the service gave up says more than one that is still on its way.
  const reasons = missed.map((miss) => miss.reason);
  const reason = reasons.includes('undelivered') ? 'undelivered' : (reasons[0] ?? 'rejected');
  return { is: 'failed', reason, detail: [...instead, ...misses].join(' ') };
}

/** Whom the followed mail did not reach. */
async function missesOf(
  { api, options, ended }: Mailing,
  { to, report, before }: Step<'tell'>,
): Promise<Miss[]> {
  if (!ended || ended.is === 'done') return [];
  const { reason, detail = 'Nothing is known of the mail any more.' } = ended;
  if (reason !== 'timeout') return [{ reason, says: detail }];
  try {
    // The last sweep may have been before its end.
    const shown = await api.showReport({ report_id: report.id });
    return overdue(to, shown.report, { withinMs: options.delivery_timeout, before });
  } catch (error) {
    if (!problemWith(error).gone) throw error;
    return [{ reason, says: `The report ${report.id} was deleted before its mail was delivered.` }];
  }
}
