/**
 * Makes a report on each site for a past period, sends it, and follows the mail to its recipients (spec 4.9).
 *
 * Work that was done before is found in the account: a report that exists is sent, and one that was sent is not
 * sent again. The service does not show the template of a report. So by default any report on the same site and
 * days that a recipient was sent counts as sent (`dedupe_by`).
 */

import { z } from 'zod';
import type { Item } from '../../src/contract/operations.ts';
import { dayIn } from '../../src/dates.ts';
import type { Answer, End, Reconciled } from '../../src/job/answer.ts';
import { ArchiveError, ArchiveFolder, keepFile } from '../../src/job/archive/file.ts';
import { type Acting, defineJob, type Evaluation } from '../../src/job/job.ts';
import { duration, notWithin } from '../../src/job/options.ts';
import { reference } from '../../src/job/references.ts';
import { shown } from '../../src/job/shown.ts';
import { redact } from '../../src/secrets.ts';
import { isOfScope, scopeKey, scopeOf } from './claims.ts';
import {
  adoptReport,
  awaitTask,
  findReport,
  type MakingTask,
  reportsBeingMade,
  requestReport,
} from './create-report.ts';
import { fillInLine, type MailFacts, mailTextFaults } from './mail-text.ts';
import { isLanguage, monthOf, type Period, PeriodOption, periodIn, periodOf } from './period.ts';
import { missingSnapshots, type Needs, needsOf } from './prerequisites.ts';
import {
  addressesOf,
  factsOf,
  mailsSoFar,
  reportsAbout,
  unknownRecipientsEnd,
  whyNoRecipient,
  withSubject,
} from './recipients.ts';
import { adoptMail, reportDelivery, send } from './send-report.ts';
import { State, type Step, withReport } from './state.ts';
import { mailWatch } from './watch-mail.ts';

type Report = Item<'listReports'>;

const MAX_RECIPIENTS = 10;
/** The id of the target that fails when no report can be sent. */
const PREREQUISITES = 'prerequisites';

/** The service refuses an address without a dot in its domain. */
const isAddress = (text: string) => z.regexes.unicodeEmail.test(text) && /@[^@]+\.[^.@]+$/.test(text);
const address = z.string().refine((text) => text === 'client' || isAddress(text), {
  error: 'must be "client" or an email address such as ada@agency.example',
});
const Options = z.strictObject({
  template: reference('template').describe('The report template: its id, or `{ name: ... }`.'),
  period: PeriodOption.default('last_month').describe(
    'The days of the report, in the time zone of the schedule: last_month, last_week (Monday to Sunday), or { start, end }. Default last_month.',
  ),
  recipients: z
    .union([z.literal('client').transform(() => ['client']), z.array(address).min(1).max(MAX_RECIPIENTS)], {
      error: 'must be "client" or a list of email addresses',
    })
    .default(['client'])
    .describe('The recipients: client, or a list of addresses that may include client. Default client.'),
  sender: z
    .optional(reference('sender'))
    .describe(
      'The sender email: its id, or `{ name: ... }` with its address. Default: the one of the template, or else the only one that is ready.',
    ),
  subject: z
    .string()
    .min(1)
    .max(200)
    .optional()
    .describe('The subject, with variables. Default: the one of the template.'),
  body: z
    .string()
    .min(1)
    .max(20_000)
    .optional()
    .describe('The text of the mail, with variables. Default: the one of the template.'),
  attach_pdf: z
    .boolean()
    .optional()
    .describe('Whether the PDF is attached. Default: as set in the template.'),
  language: z
    .string()
    .refine(isLanguage, { error: 'must be a language such as en, de or pt-BR' })
    .default('en')
    .describe('The language of {{period.name}}, such as de. Default en.'),
  dedupe_by: z
    .enum(['period', 'subject'])
    .default('period')
    .describe(
      'When two reports count as the same: site and days are equal (period), or the subject is equal too (subject), for sites that get several reports about the same days. Default period.',
    ),
  delivery_timeout: duration(60_000)
    .prefault('1h')
    .describe('How long a mail is followed until it is delivered: less than `timeout.target`. Default 1h.'),
  resend_to_client: z
    .boolean()
    .default(false)
    .describe(
      "Whether a mail that was not delivered is sent again to the client's current address, if that differs. Default false.",
    ),
  archive_dir: ArchiveFolder.optional().describe(
    'The folder where each PDF is archived before it is sent, as an absolute path. Default none.',
  ),
});
type Options = z.output<typeof Options>;

type Working = Acting<Options, State>;

interface Prepared {
  period: Period;
  needs: Needs;
  /** By site: the reports about the same days, newest first. */
  reports: Map<string, Report[]>;
  /** By report: the scope that it was made for, according to our records. */
  scopes: Map<string, string>;
  /** By site: the task that is making a report on it. */
  making: Map<string, MakingTask>;
}

export const reportDispatch = defineJob({
  name: 'report-dispatch',
  summary: 'Makes a report on each site for a past period, sends it, and follows the mail to its recipients.',
  reasons: {
    undelivered: {
      text: 'The mail was not delivered to a recipient; the detail shows the address and the cause.',
    },
  },
  options: Options,
  candidates: 'listSites',
  state: State,
  // A report does not change its site, and a mail can take long. So the site stays free for other runs.
  target: (site) => ({ id: site.id, label: site.url, site: null }),
  check: (options, { targetMs }) => [
    ...(['subject', 'body'] as const).flatMap((name) =>
      mailTextFaults(options[name] ?? '').map((fault) => ({ path: [name], ...fault })),
    ),
    ...notWithin('delivery_timeout', options.delivery_timeout, targetMs),
  ],

  async prepare(preparing): Promise<Prepared> {
    const { api, all, once, options, runContext, now } = preparing;
    const { timezone } = runContext;
    const period = periodOf(options.period, runContext.at, timezone);
    const needs = await needsOf({ api, all }, options);
    if (period.end >= dayIn(timezone, now))
      needs.missing.push(`The period of the report ends on ${period.end}, which is not over yet.`);
    const reports = await reportsAbout({ api, all }, period, timezone);
    const ids = [...reports.values()].flat().map(({ id }) => id);
    const scopes = new Map<string, string>();
    for (const [at, scope] of (await once.results(ids.map(scopeKey))).entries())
      if (scope !== undefined) scopes.set(ids[at] ?? '', scope);
    return { period, needs, reports, scopes, making: await reportsBeingMade(preparing, now) };
  },

  aggregateIds: [PREREQUISITES],
  *extraTargets({ prepared: { needs } }) {
    if (needs.missing.length === 0) return;
    // Every site is skipped then. Without a failed target, the run would seem to have succeeded.
    const end: End = { is: 'failed', reason: 'not-eligible', detail: needs.missing.join(' ') };
    yield { is: 'ended', id: PREREQUISITES, label: 'what every report needs', end };
  },

  evaluate(site, { options, runContext, prepared, retry, now }): Evaluation<State> {
    const { period, needs } = prepared;
    const facts = factsOf(site, period, options.language);
    const recipients = addressesOf(site, options.recipients);
    const { same, ready, kind } = deduplicated(site, { options, prepared, facts });
    const { open, missed, missedMails, unconfirmed, silent, end } = mailsSoFar(recipients, same);
    const to = [...open, ...unconfirmed, ...(retry ? missed : [])];
    if (recipients.length > 0 && to.length === 0) return { is: 'ended', end };
    if (silent !== undefined && unconfirmed.length > 0 && !ready)
      return { is: 'ended', end: unknownRecipientsEnd(silent, unconfirmed) };
    const missing = [
      ...(recipients.length > 0 ? [] : [whyNoRecipient(site)]),
      ...(ready ? [] : missingSnapshots(site, period, runContext.timezone)),
    ];
    // The cause is reported once, by the target for all, and not for each site.
    if (needs.missing.length > 0) missing.push('What every report needs is missing: see "prerequisites".');
    if (missing.length > 0 || !needs.template || needs.senderId === undefined)
      return { is: 'ineligible', why: missing.join(' ') };
    const mailing = {
      facts,
      templateId: needs.template.id,
      senderId: needs.senderId,
      ...kind,
      ...(site.client ? { clientId: site.client.id } : {}),
      recipients,
      to,
      ...(retry && missed.length > 0 ? { before: missedMails } : {}),
    };
    if (ready && prepared.scopes.has(ready.id))
      return {
        is: 'target',
        state: withReport({ ...mailing, ...(unconfirmed.length > 0 ? { unconfirmed } : {}) }, ready, options),
      };
    // The step `find` decides later whether the report is ours: a run that requested it may not have found it yet.
    if (ready) return { is: 'target', state: { ...mailing, step: 'find', since: now, taskOwner: 'other' } };
    const task = prepared.making.get(site.id);
    return {
      is: 'target',
      state: task === undefined ? { ...mailing, step: 'make' } : { ...mailing, step: 'await', task },
    };
  },

  watches: [mailWatch],
  changes: () => ['createReport', 'sendReportEmail'],
  requestsPerTarget: ({ archive_dir }) => (archive_dir === undefined ? 4 : 5),

  verified: () => ['sendReportEmail'],
  // The list shows the client of each site, so it costs nothing in addition to it.
  verify: async ({ options, runContext }) => ({
    readsItems: true,
    differs: ({ state }, items) =>
      whatDiffers(state, items?.['site'] as Item<'listSites'>, { options, runContext }),
  }),

  async act(acting): Promise<Answer<State>> {
    const { state } = acting;
    switch (state?.step) {
      case 'make':
        return requestReport(acting, state);
      case 'await':
        return awaitTask(acting, state);
      case 'find':
        return findReport(acting, state);
      case 'archive':
        return archive(acting, state);
      case 'send':
        return send(acting, state);
      case 'report':
        return reportDelivery(acting, state);
      default:
        throw new Error('A report was planned without a state.');
    }
  },

  async reconcile(acting, intent): Promise<Reconciled<State>> {
    const { state } = acting;
    if (state?.step === 'send') return adoptMail(acting, state, intent);
    return state?.step === 'make' ? adoptReport(acting, state, intent) : { is: 'unknown' };
  },
});

/** The reports on a site that count as the policy's report, the one of them that can be sent, and its scope. */
function deduplicated(
  { id: siteId }: Item<'listSites'>,
  { options, prepared, facts }: { options: Options; prepared: Prepared; facts: MailFacts },
) {
  const { template } = prepared.needs;
  const { subject } = options;
  const reports = prepared.reports.get(siteId) ?? [];
  const bySubject = options.dedupe_by === 'subject';
  const own = [template?.subject, subject && fillInLine(subject, facts)];
  const subjects = bySubject ? own.filter((one) => one !== undefined) : undefined;
  const scope = scopeOf(template?.id ?? '', options);
  const looksOurs = withSubject(subjects);
  const isOurs = (report: Report) => isOfScope(report, scope, prepared.scopes.get(report.id), looksOurs);
  const made = reports.filter(({ type }) => type !== 'scheduled');
  return {
    same: bySubject ? reports.filter(isOurs) : reports,
    ready: made.find(({ id }) => prepared.scopes.get(id) === scope) ?? made.find(isOurs),
    kind: { scope, ...(subjects ? { subjects } : {}) },
  };
}

/** What differs between the client and site that a mail was planned for and those that are shown now. */
function whatDiffers(
  state: State,
  site: Item<'listSites'>,
  { options, runContext }: Pick<Working, 'options' | 'runContext'>,
): string | undefined {
  const client = shown(site.client, 'site.client');
  if (client?.id !== state.clientId)
    return `It belonged to the client ${state.clientId ?? 'none'} when it was planned, and now to ${client?.id ?? 'none'}.`;
  // In place of an address that failed, a mail goes to the one that was on file then.
  const [onFile] = state.instead ? addressesOf(site, ['client']) : [];
  if (state.instead && onFile !== state.to[0])
    return `${state.instead.join(' ')} It was then to go to ${state.to.join(', ')}, and the client's address is now ${onFile ?? 'none'}.`;
  const recipients = addressesOf(site, options.recipients);
  if (!state.instead && recipients.join(', ') !== state.recipients.join(', '))
    return `It was planned for ${state.recipients.join(', ')}, and the recipients are now ${recipients.join(', ') || 'none'}.`;
  const facts = redact(
    factsOf(site, periodIn({ options, runContext }), options.language),
  ) as typeof state.facts;
  const changed = Object.entries(facts).find(([name, value]) => state.facts[name] !== value);
  return (
    changed &&
    `${changed[0]} was "${state.facts[changed[0]] ?? ''}" when it was planned, and is now "${changed[1]}".`
  );
}

/** Archives the PDF. A report that cannot be archived is not sent; the next run continues with it. */
async function archive(acting: Working, state: Step<'archive'>): Promise<Answer<State>> {
  const { download, target, options } = acting;
  const period = periodIn(acting);
  const { 'client.company_name': company, 'client.name': name } = state.facts;
  const site = target.label.replace(/^[a-z]+:\/\//i, '').replace(/\/$/, '');
  const names = [company || name || 'no client', site, monthOf(period) ?? `${period.start}_${period.end}`];
  try {
    const content = await download('downloadReport', { report_id: state.report.id });
    await keepFile(content, { dir: options.archive_dir ?? '', names, extension: '.pdf' });
  } catch (error) {
    if (!(error instanceof ArchiveError)) throw error;
    return { is: 'failed', reason: 'archive-failed', detail: error.message };
  }
  return { is: 'next', state: { ...state, step: 'send' } };
}
