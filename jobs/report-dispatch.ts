/**
 * Makes a report on each site for the days gone by, sends it, and follows the mail to its recipients (spec 4.9).
 *
 * What has been done already is found in the account: a report that was made is sent, one that was sent is left alone.
 * Reports do not tell their template, so by default any report on the same site and days that a recipient has had
 * counts as sent (`tell_apart_by`).
 */
import { z } from 'zod';
import type { Item } from '../src/contract/operations.ts';
import { ArchiveError, ArchiveFolder, keepFile } from '../src/job/archive.ts';
import {
  type Acting,
  type Answer,
  defineJob,
  type End,
  type Judgement,
  type Reconciled,
} from '../src/job/job.ts';
import { fillIn, fillInLine, type MailFacts, mailTextFaults } from '../src/job/mail-text.ts';
import { duration, notWithin } from '../src/job/options.ts';
import { dayAt, isLanguage, monthOf, type Period, PeriodWish, periodOf } from '../src/job/period.ts';
import { problemWith } from '../src/job/problem.ts';
import { type Needs, needsOf, snapshotsLack, snapshotsOf } from '../src/job/report-needs.ts';
import {
  addressesOf,
  factsOf,
  isAbout,
  isSame,
  mailsSoFar,
  nobody,
  overdue,
  readSent,
  refusals,
  reportsAbout,
  withSubject,
} from '../src/job/report-recipients.ts';
import { traces } from '../src/job/traces.ts';
import { mailTo } from '../src/job/watch-mail.ts';

type Report = Item<'listReports'>;

/** Moments of the service and of ours are compared with this much slack. */
const CLOCK_SLACK_MS = 60_000;
const MOST_RECIPIENTS = 10;
/** The target that fails when nothing can be sent at all. */
const PREREQUISITES = 'prerequisites';

/** The service refuses a mail for an address without a dot in its domain. */
const isAddress = (text: string) => z.regexes.unicodeEmail.test(text) && /@[^@]+\.[^.@]+$/.test(text);
const address = z.string().refine((text) => text === 'client' || isAddress(text), {
  error: 'takes "client" or an e-mail address such as ada@agency.example',
});
const Options = z.strictObject({
  template: z.string().min(1).describe('The report template: its name, or its id where names repeat.'),
  period: PeriodWish.default('last_month').describe(
    'The days of the report, in the time zone of the schedule: last_month, last_week (Monday to Sunday), or { start, end }. Default last_month.',
  ),
  recipients: z
    .union([z.literal('client').transform(() => ['client']), z.array(address).min(1).max(MOST_RECIPIENTS)], {
      error: 'takes "client" or a list of e-mail addresses',
    })
    .default(['client'])
    .describe('Who gets it: client, or a list of addresses, client among them or not. Default client.'),
  sender: z
    .string()
    .min(1)
    .optional()
    .describe(
      'The sender email, by address or id. Default that of the template, or else the only one that is ready.',
    ),
  subject: z
    .string()
    .min(1)
    .max(200)
    .optional()
    .describe('The subject, with variables. Default that of the template.'),
  body: z
    .string()
    .min(1)
    .max(20_000)
    .optional()
    .describe('The text of the mail, with variables. Default that of the template.'),
  attach_pdf: z.boolean().optional().describe('Whether the PDF goes along. Default as the template has it.'),
  language: z
    .string()
    .refine(isLanguage, { error: 'takes a language such as en, de or pt-BR' })
    .default('en')
    .describe('The language of {{period.name}}, such as de. Default en.'),
  tell_apart_by: z
    .enum(['period', 'subject'])
    .default('period')
    .describe(
      'What makes a report that was sent the same as this one: its site and days (period), or its subject too, for sites that get several reports about the same days. Default period.',
    ),
  delivery_timeout: duration(60_000)
    .prefault('1h')
    .describe('How long a mail is followed until it is delivered: less than `timeout.target`. Default 1h.'),
  resend_to_client: z
    .boolean()
    .default(false)
    .describe(
      'Whether a mail that did not arrive is sent once more, to the address the client has by then, if it is another. Default false.',
    ),
  archive_dir: ArchiveFolder.optional().describe(
    'A folder to keep each PDF in before it is sent, from the root on. Default none.',
  ),
});
type Options = z.output<typeof Options>;

const mailing = {
  facts: z.record(z.string(), z.string()),
  templateId: z.string(),
  senderId: z.string(),
  clientId: z.string().optional(),
  /** Everybody who is to have it, and who of them is sent it next. */
  asked: z.array(z.string()),
  to: z.array(z.string()),
  /** They had it before, and it did not arrive: somebody asked for another try. */
  again: z.literal(true).optional(),
  /** It goes to the client's address instead, because of what was missed before. */
  instead: z.array(z.string()).optional(),
};
const made = z.object({ id: z.string(), madeAt: z.number() });
const Memo = z.discriminatedUnion('step', [
  z.object({ step: z.literal('make'), ...mailing }),
  z.object({ step: z.literal('find'), ...mailing, since: z.number() }),
  z.object({ step: z.literal('archive'), ...mailing, report: made }),
  z.object({ step: z.literal('send'), ...mailing, report: made }),
  z.object({ step: z.literal('tell'), ...mailing, report: made, refused: z.array(z.string()) }),
]);
type Memo = z.output<typeof Memo>;
type Mailing = z.output<z.ZodObject<typeof mailing>>;
type Step<Name extends Memo['step']> = Extract<Memo, { step: Name }>;
type Working = Acting<Options, Memo>;

interface Survey {
  period: Period;
  needs: Needs;
  /** By site: what reports there are about these very days, newest first. */
  reports: Map<string, Report[]>;
}

export const reportDispatch = defineJob({
  name: 'report-dispatch',
  summary:
    'Makes a report on each site for the days gone by, sends it, and follows the mail to its recipients.',
  options: Options,
  candidates: 'listSites',
  memo: Memo,
  // A report leaves its site as it is, and a mail may be on its way for long.
  target: (site) => ({ id: site.id, label: site.url, site: null }),
  check: (options, { targetMs }) => [
    ...(['subject', 'body'] as const).flatMap((name) =>
      mailTextFaults(options[name] ?? '').map((fault) => ({ path: [name], ...fault })),
    ),
    ...notWithin('delivery_timeout', options.delivery_timeout, targetMs),
  ],

  async survey({ api, all, options, occasion, now }): Promise<Survey> {
    const { timezone } = occasion;
    const period = periodOf(options.period, occasion.at, timezone);
    const needs = await needsOf({ api, all }, options);
    if (period.end >= dayAt(now, timezone))
      needs.missing.push(`The days of the report end on ${period.end}, which is not over.`);
    return { period, needs, reports: await reportsAbout(all, period, timezone) };
  },

  standsForAll: [PREREQUISITES],
  *besides({ survey: { needs } }) {
    if (needs.missing.length === 0) return;
    // Every site is skipped then, and a policy that can send nothing must not look well.
    const end: End = { is: 'failed', reason: 'not-eligible', detail: needs.missing.join(' ') };
    yield { is: 'settled', id: PREREQUISITES, label: 'what every report needs', end };
  },

  judge(site, { options, occasion, survey, retry }): Judgement<Memo> {
    const { period, needs } = survey;
    const facts = factsOf(site, period, options.language);
    const asked = addressesOf(site, options.recipients);
    const reports = survey.reports.get(site.id) ?? [];
    const { subject } = options;
    const isOurs = withSubject([needs.template?.subject, subject && fillInLine(subject, facts)]);
    const same = options.tell_apart_by === 'period' ? reports : reports.filter(isOurs);
    const { open, missed, end } = mailsSoFar(asked, same);
    const to = retry ? [...open, ...missed] : open;
    if (asked.length > 0 && to.length === 0) return { is: 'settled', end };
    const ready = reports.find((report) => report.type === 'one_time' && isOurs(report));
    const lacks = [
      ...(asked.length > 0 ? [] : [nobody(site)]),
      ...needs.missing,
      ...(ready ? [] : snapshotsLack(site, period, occasion.timezone)),
    ];
    if (lacks.length > 0 || !needs.template || needs.senderId === undefined)
      return { is: 'unfit', why: lacks.join(' ') };
    const mailing = {
      facts,
      templateId: needs.template.id,
      senderId: needs.senderId,
      ...(site.client ? { clientId: site.client.id } : {}),
      asked,
      to,
      ...(to.length > open.length ? { again: true as const } : {}),
    };
    return { is: 'target', memo: ready ? withReport(mailing, ready, options) : { ...mailing, step: 'make' } };
  },

  requestsPerTarget: ({ archive_dir }) => (archive_dir === undefined ? 4 : 5),

  async act(acting): Promise<Answer<Memo>> {
    const { memo } = acting;
    switch (memo?.step) {
      case 'make':
        return make(acting, memo);
      case 'find':
        return find(acting, memo);
      case 'archive':
        return archive(acting, memo);
      case 'send':
        return send(acting, memo);
      case 'tell':
        return tell(acting, memo);
      default:
        throw new Error('The plan left no memo.');
    }
  },

  async reconcile(acting, intent): Promise<Reconciled<Memo>> {
    const { memo } = acting;
    if (memo?.step === 'send') return adoptMail(acting, memo, intent.at - CLOCK_SLACK_MS);
    if (memo?.step !== 'make') return { is: 'unknown' };
    const found = await traces.createReport.find(acting, { body: orderOf(acting, memo) }, intent);
    if (found.is !== 'found') return found;
    const next = { ...memo, step: 'find', since: intent.at } as const;
    if (found.taskId === undefined) return { is: 'next', memo: next };
    return { is: 'following', watch: { kind: 'task', taskId: found.taskId, since: intent.at }, next };
  },
});

const withReport = (mailing: Mailing, report: Report, { archive_dir }: Options): Memo => ({
  ...mailing,
  step: archive_dir === undefined ? 'send' : 'archive',
  report: { id: report.id, madeAt: Date.parse(report.created_at ?? '') || 0 },
});

const unfit = (detail: string): End => ({ is: 'skipped', reason: 'not-eligible', detail });

const periodIn = ({ options, occasion }: Working): Period =>
  periodOf(options.period, occasion.at, occasion.timezone);

function orderOf(acting: Working, { templateId }: Mailing) {
  const { start, end } = periodIn(acting);
  const { timezone } = acting.occasion;
  const site_id = acting.target.id;
  return { report: { site_id, timezone, start_date: start, end_date: end, template_id: templateId } };
}

/** Has the report made, where the site has snapshots of its days. */
async function make(acting: Working, memo: Step<'make'>): Promise<Answer<Memo>> {
  const { api, target, occasion, now } = acting;
  const snapshots = await snapshotsOf(api, target.id, periodIn(acting), occasion.timezone);
  if ('lacks' in snapshots) return unfit(snapshots.lacks);
  try {
    const { task } = await api.createReport({ body: orderOf(acting, memo) });
    const watch = { kind: 'task', taskId: task.id, since: now } as const;
    return { is: 'following', watch, next: { ...memo, step: 'find', since: now } };
  } catch (error) {
    const { rejected } = problemWith(error);
    if (!rejected || !/snapshot/i.test(`${rejected.code} ${rejected.message}`)) throw error;
    return unfit(`${rejected.message} ${snapshots.found}`);
  }
}

/** Finds the report that was made: its task does not name it. */
async function find(acting: Working, memo: Step<'find'>): Promise<Answer<Memo>> {
  const { all, target, options, ended } = acting;
  // A task that the service forgot may have made its report all the same.
  if (ended && ended.is !== 'done' && ended.reason !== 'unknown-effect') return ended;
  const period = periodIn(acting);
  const created_at = { gte: new Date(memo.since - CLOCK_SLACK_MS).toISOString() };
  const query = { filters: { site_id: { eq: target.id }, created_at }, sort: 'created_at,desc' };
  for await (const report of all('listReports', query)) {
    if (report.type !== 'scheduled' && isAbout(report, period))
      return { is: 'next', memo: withReport(memo, report, options) };
  }
  if (ended && ended.is !== 'done') return ended;
  const detail = 'The service says that the report is made, and does not list it.';
  return { is: 'waiting', reason: 'unavailable', detail };
}

/** Keeps the PDF. A report that could not be kept is not sent: the next run goes on with it. */
async function archive(acting: Working, memo: Step<'archive'>): Promise<Answer<Memo>> {
  const { download, target, options } = acting;
  const period = periodIn(acting);
  const { 'client.company_name': company, 'client.name': name } = memo.facts;
  const site = target.label.replace(/^[a-z]+:\/\//i, '').replace(/\/$/, '');
  const names = [company || name || 'no client', site, monthOf(period) ?? `${period.start}_${period.end}`];
  try {
    const content = await download('downloadReport', { report_id: memo.report.id });
    await keepFile(content, { dir: options.archive_dir ?? '', names });
  } catch (error) {
    if (!(error instanceof ArchiveError)) throw error;
    return { is: 'failed', reason: 'archive-failed', detail: error.message };
  }
  return { is: 'next', memo: { ...memo, step: 'send' } };
}

async function send({ api, options, now }: Working, memo: Step<'send'>): Promise<Answer<Memo>> {
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
  { now, options }: Pick<Working, 'now' | 'options'>,
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
async function adoptMail(acting: Working, memo: Step<'send'>, since: number): Promise<Reconciled<Memo>> {
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
  return mailed(memo, taken, refused, { ...acting, now: since + CLOCK_SLACK_MS });
}

/** Says what became of the mails; when some did not arrive, perhaps sends to the client's address of today instead. */
async function tell(acting: Working, memo: Step<'tell'>): Promise<Answer<Memo>> {
  const { api, target, options, ended } = acting;
  const { instead = [], refused, report } = memo;
  const misses = [...refused, ...(await missesOf(acting, memo))];
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
  const reason = ended && ended.is !== 'done' ? ended.reason : 'rejected';
  return { is: 'failed', reason, detail: [...instead, ...misses].join(' ') };
}

/** Whom the followed mail did not reach, in sentences. */
async function missesOf({ api, options, ended }: Working, { to, report }: Step<'tell'>): Promise<string[]> {
  if (!ended || ended.is === 'done') return [];
  if (ended.reason !== 'timeout') return [ended.detail ?? 'Nothing is known of the mail any more.'];
  const shown = await api.showReport({ report_id: report.id });
  return overdue(to, shown.report, options.delivery_timeout);
}
