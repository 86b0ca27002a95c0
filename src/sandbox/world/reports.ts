import { dayIn, daysAfter } from '../../dates.ts';
import type {
  ContentPatch,
  EmailPatch,
  Mail,
  MailStatus,
  Report,
  ReportContent,
  ReportEmail,
  Reporting,
  ReportOrder,
  ScheduledReport,
  Section,
  SentTo,
} from '../model/reporting.ts';
import type { Site, Snapshot } from '../model/site.ts';
import type { Recurrence, Task } from '../model/tasks.ts';
import type { World } from '../model/world.ts';
import { startTask } from '../resources/tasks.ts';
import { idOf, nextNumber } from './numbers.ts';
import { snapshotsOf } from './snapshots.ts';
import { MINUTE, nextOccurrence, SECOND } from './time.ts';

// The days of a report. Days are written YYYY-MM-DD, in a timezone.

interface Period {
  startDate: string;
  endDate: string;
}

/** Whether the site has successful snapshots from the first day or before up to the last day or after. */
export function snapshotsCover(site: Site, { startDate, endDate }: Period, timezone: string): boolean {
  const hasSucceeded = ({ status }: Snapshot) => status === 'succeeded';
  const snapshots = snapshotsOf(site);
  const [first, last] = [snapshots.find(hasSucceeded), snapshots.findLast(hasSucceeded)];
  if (!first || !last) return false;
  return dayIn(timezone, first.createdAt) <= startDate && dayIn(timezone, last.createdAt) >= endDate;
}

/** The days of a scheduled report made at `at`: as many days before it as its frequency has. */
function periodBefore(at: number, frequency: 'weekly' | 'biweekly' | 'monthly', timezone: string): Period {
  const today = dayIn(timezone, at);
  const days = { weekly: 7, biweekly: 14, monthly: daysOfMonthBefore(today) }[frequency];
  return { startDate: daysAfter(today, -days), endDate: daysAfter(today, -1) };
}

const daysOfMonthBefore = (day: string): number => Number(daysAfter(`${day.slice(0, 8)}01`, -1).slice(8));

const TAKES_MS = 40 * SECOND;

/** Starts making a report. Without snapshots of its days the task fails and no report is made. */
export function startReport(world: World, site: Site, order: ReportOrder, at: number): Task {
  const covered = site.backups.enabled && snapshotsCover(site, order, order.timezone);
  const ends = covered ? {} : ({ ends: 'failed' } as const);
  const input = [{ id: site.id }];
  return startTask(
    world,
    {
      type: 'report',
      input,
      takesMs: world.reporting.takes?.reportMs ?? TAKES_MS,
      ...ends,
      makes: { does: 'add-report', order },
    },
    at,
  );
}

/** Adds the finished report. Does nothing when its site was deleted meanwhile. */
export function addReport(world: World, order: ReportOrder, at: number): void {
  const site = world.sites.get(order.siteId);
  if (!site) return;
  const report: Report = {
    id: idOf('report', nextNumber(world, 'report')),
    site: { id: site.id, title: site.title, url: site.url },
    client: clientOf(world, site),
    title: order.title,
    type: order.type,
    startDate: order.startDate,
    endDate: order.endDate,
    content: order.content,
    createdAt: at,
    email: order.email,
    sentTo: [],
  };
  world.reporting.reports.set(report.id, report);
  sendReport(report, order.recipients, at);
}

/** Sends a report. For a recipient who already has it, the status of the mail starts again. */
export function sendReport(report: Report, emails: readonly string[], at: number): void {
  const sent: SentTo[] = emails.map((email) => ({ email, sentAt: at }));
  report.sentTo = [...report.sentTo.filter(({ email }) => !emails.includes(email)), ...sent];
}

function clientOf(world: World, site: Site): Report['client'] {
  const client = site.clientId === null ? undefined : world.clients.get(site.clientId);
  if (!client) return null;
  const { first_name, last_name, company_name, email } = client.fields;
  const name = `${first_name} ${last_name}`.trim();
  return { id: client.id, name: name === '' ? company_name : name, email };
}

// The status of a report's email: sent, delivered, opened, in that order and by itself. The beginning of an
// address can select another status. It is computed, so nothing has to be updated.

/** Times after sending. */
const DELIVERED_AFTER_MS = 20 * SECOND;
const MARKED_AS_SPAM_AFTER_MS = 2 * MINUTE;
const OPENED_AFTER_MS = 5 * MINUTE;

/** Beginnings of addresses whose mail is not delivered. */
const undelivered = { bounce: 'bounced', fail: 'failed' } as const;

/** Statuses of a mail that was delivered. */
const arrived: ReadonlySet<MailStatus> = new Set(['delivered', 'opened', 'spam']);

/** The status of a mail at `now`. */
export function mailAt({ email, sentAt }: SentTo, { mailEnds, takes }: Reporting, now: number): Mail {
  const age = now - sentAt;
  const deliveredAfterMs = takes?.deliveryMs ?? DELIVERED_AFTER_MS;
  const mail: Mail = { email, status: 'sent', sentAt, deliveredAt: null, openedAt: null };
  const end = mailEnds.get(email);
  if (end) {
    const deliveredAt = arrived.has(end) ? Math.min(now, sentAt + deliveredAfterMs) : null;
    return { ...mail, status: end, deliveredAt, openedAt: end === 'opened' ? deliveredAt : null };
  }
  if (age < deliveredAfterMs || email.startsWith('stuck')) return mail;
  for (const [beginning, status] of Object.entries(undelivered)) {
    if (email.startsWith(beginning)) return { ...mail, status };
  }
  const delivered: Mail = { ...mail, status: 'delivered', deliveredAt: sentAt + deliveredAfterMs };
  if (email.startsWith('spam')) {
    return age < MARKED_AS_SPAM_AFTER_MS ? delivered : { ...delivered, status: 'spam' };
  }
  if (age < OPENED_AFTER_MS || email.startsWith('unread')) return delivered;
  return { ...delivered, status: 'opened', openedAt: sentAt + OPENED_AFTER_MS };
}

const section = (
  heading: string,
  description: string,
  dynamic_data: Record<string, unknown> = {},
): Section => ({
  visible: true,
  heading,
  description,
  dynamic_data,
});

/** The default content of a report. */
export const defaultContent = (): ReportContent => ({
  general: { primary_color: '#2980b9', language: 'en', date_format: 'YYYY-MM-DD' },
  sections: {
    cover: section('Website care report', '', {
      logo: { option: 'default' },
      cover_image: { option: 'default' },
    }),
    introduction: section('Introduction', 'What was done for your website.'),
    backups: section('Backups', 'Copies of your website that were kept.'),
    security: section('Security', 'What the scans have found.'),
    updates: section('Updates', 'What was brought up to date.'),
  },
  section_order: ['cover', 'introduction', 'backups', 'security', 'updates'],
});

export const defaultEmail = (): ReportEmail => ({
  senderId: null,
  subject: 'Your website care report',
  body: 'Please find the report on your website attached.',
  attachPdf: true,
});

/** Merges the request into the content. Sections that the order does not name come last. */
export function layContent(before: ReportContent, patch: ContentPatch): ReportContent {
  const sections = { ...before.sections };
  for (const [name, given] of Object.entries(patch.sections ?? {})) {
    sections[name] = { ...(sections[name] ?? section(name, '')), ...defined(given) };
  }
  const names = Object.keys(sections);
  const order = patch.section_order ?? before.section_order;
  return {
    general: { ...before.general, ...defined(patch.general ?? {}) },
    sections,
    section_order: [...order, ...names.filter((name) => !order.includes(name))],
  };
}

/** Merges the request into the email settings. */
export const layEmail = (before: ReportEmail, patch: EmailPatch): ReportEmail => ({
  senderId: patch.sender_email === undefined ? before.senderId : (patch.sender_email?.id ?? null),
  subject: patch.subject ?? before.subject,
  body: patch.body ?? before.body,
  attachPdf: patch.attach_pdf ?? before.attachPdf,
});

type Defined<T> = { [K in keyof T]?: Exclude<T[K], undefined> };

const defined = <T extends object>(given: T): Defined<T> =>
  Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) as Defined<T>;

/** An account without reports. */
export const newReporting = (): Reporting => ({
  reports: new Map(),
  templates: new Map(),
  scheduled: new Map(),
  mailEnds: new Map(),
});

// Scheduled reports (spec 2.13): each time a task of type report, and then a report that is sent.

type Fields = Omit<ScheduledReport, 'id' | 'status' | 'nextAt' | 'createdAt' | 'updatedAt'>;

/** Adds a scheduled report, which is active. */
export function addScheduledReport(world: World, fields: Fields, now: number): ScheduledReport {
  const scheduled: ScheduledReport = {
    ...fields,
    id: idOf('scheduled-report', nextNumber(world, 'scheduled')),
    status: 'active',
    nextAt: 0,
    createdAt: now,
    updatedAt: now,
  };
  world.reporting.scheduled.set(scheduled.id, scheduled);
  planNextReport(world, scheduled, now);
  return scheduled;
}

const recurrences = {
  weekly: 'weekly_on_day',
  biweekly: 'biweekly',
  monthly: 'monthly_on_date',
} as const satisfies Record<ScheduledReport['frequency'], Recurrence>;

/** Recalculates when the next report is due. */
export function planNextReport(world: World, scheduled: ScheduledReport, after: number): void {
  const { frequency, startedAt, id } = scheduled;
  scheduled.nextAt = nextOccurrence(recurrences[frequency], startedAt, after);
  world.agenda.add(scheduled.nextAt, { does: 'run-report', scheduled: id });
}

/** Makes the report that is due. Does nothing if it was paused, moved or deleted meanwhile. */
export function runScheduledReport(world: World, id: string, at: number): void {
  const scheduled = world.reporting.scheduled.get(id);
  if (scheduled?.status !== 'active' || scheduled.nextAt !== at) return;
  const site = world.sites.get(scheduled.siteId);
  if (!site) return;
  const { frequency, timezone, content, email } = scheduled;
  startReport(
    world,
    site,
    {
      siteId: site.id,
      title: titleOf(scheduled, site),
      type: 'scheduled',
      ...periodBefore(at, frequency, timezone),
      timezone,
      content,
      email,
      recipients: recipientsOf(world, scheduled, site),
    },
    at,
  );
  planNextReport(world, scheduled, at);
}

/** The title of a scheduled report and of the reports it makes. */
export const titleOf = ({ frequency }: ScheduledReport, site: Site): string =>
  `${frequency[0]?.toUpperCase()}${frequency.slice(1)} report on ${site.title}`;

function recipientsOf(world: World, { recipients, sendToClient }: ScheduledReport, site: Site): string[] {
  const client = site.clientId === null ? undefined : world.clients.get(site.clientId);
  const theirs = sendToClient && client && client.fields.email !== '' ? [client.fields.email] : [];
  return [...new Set([...recipients, ...theirs])];
}

/** The scheduled report that a site has, if any. */
export function scheduledReportOf(world: World, siteId: string): ScheduledReport | undefined {
  for (const scheduled of world.reporting.scheduled.values()) {
    if (scheduled.siteId === siteId) return scheduled;
  }
  return undefined;
}
