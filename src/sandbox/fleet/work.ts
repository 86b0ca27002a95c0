/** The report templates of the fleet, its scheduled reports, and the reports that they have made so far. */
import { isoDay } from '../../dates.ts';
import type { ReportTemplate } from '../model/reporting.ts';
import type { Site } from '../model/site.ts';
import type { ScheduleFields, TaskEnd, TaskInput } from '../model/tasks.ts';
import type { World } from '../model/world.ts';
import { addSenderEmail, refresh } from '../resources/sender-emails.ts';
import { startTask } from '../resources/tasks.ts';
import { idOf, nextNumber, type Random } from '../world/numbers.ts';
import { addScheduledReport, defaultContent, defaultEmail, startReport } from '../world/reports.ts';
import { DAY, HOUR, MINUTE } from '../world/time.ts';
import { addSchedule } from '../world/updates.ts';

/** One of this many sites with enough snapshots has a scheduled report. */
const REPORTED_EVERY = 4;

/** Adds the templates, and reports for sites with enough snapshots. */
export function generateReports(world: World): void {
  const monthly = generateTemplate(world, 'Monthly care', 200, 'Your website this month');
  generateTemplate(world, 'Short summary', 120, 'Your website in short');
  const reportable = [...world.sites.values()]
    .slice(0, 40)
    .filter(({ backups, past }) => backups.enabled && past.count > 9);
  for (const [at, site] of reportable.entries()) {
    if (at % REPORTED_EVERY === 0) generateScheduled(world, site, monthly, at / REPORTED_EVERY);
  }
  const current = reportable.filter(
    ({ sync }) => sync.lastStatus === 'succeeded' && (sync.lastAt ?? 0) > world.startedAt - DAY - HOUR,
  );
  for (const site of current.slice(0, 2)) generateReport(world, site);
}

function generateTemplate(world: World, name: string, agoDays: number, subject: string): ReportTemplate {
  const id = idOf('template', nextNumber(world, 'template'));
  const createdAt = world.startedAt - agoDays * DAY;
  const email = { ...defaultEmail(), subject, senderId: verifiedSender(world) };
  const template = { id, name, content: defaultContent(), email, createdAt, updatedAt: createdAt };
  world.reporting.templates.set(id, template);
  return template;
}

function generateScheduled(world: World, site: Site, template: ReportTemplate, number: number): void {
  const frequency = (['weekly', 'monthly', 'biweekly'] as const)[number % 3] ?? 'weekly';
  const midnight = Math.floor(world.startedAt / DAY) * DAY;
  const scheduled = addScheduledReport(
    world,
    {
      siteId: site.id,
      templateId: template.id,
      frequency,
      timezone: 'UTC',
      // Each on another day of the week; the first of them is already due.
      startedAt: midnight - (7 + (number % 6)) * DAY + 6 * HOUR,
      content: template.content,
      email: template.email,
      sendToClient: number % 2 === 0,
      recipients: [`owner-${site.number}@customers.example`, `bounce-${site.number}@customers.example`],
    },
    world.startedAt - 30 * DAY,
  );
  if (number % 5 === 4) scheduled.status = 'paused';
}

function generateReport(world: World, site: Site): void {
  const day = (ago: number) => isoDay(world.startedAt - ago * DAY);
  startReport(
    world,
    site,
    {
      siteId: site.id,
      title: `Report on ${site.title}`,
      type: 'one_time',
      startDate: day(8),
      endDate: day(2),
      timezone: 'UTC',
      content: defaultContent(),
      email: { ...defaultEmail(), senderId: verifiedSender(world) },
      recipients: [`hello-${site.number}@customers.example`, `spam-${site.number}@customers.example`],
    },
    world.startedAt - DAY - HOUR,
  );
}

const verifiedSender = (world: World): string | null =>
  [...world.senderEmails.values()].find(({ status }) => status === 'verified')?.id ?? null;

// The sender emails of the fleet: two verified, one of them without DNS, and two that their owners have not
// confirmed.

const senders = [
  { email: 'reports@agency.example', name: 'Agency Reports', agoMs: 300 * DAY, refreshed: true },
  { email: 'care@unpublished.example', name: 'Care Team', agoMs: 90 * DAY, refreshed: true },
  { email: 'never.read@agency.example', name: 'Old Mailbox', agoMs: 45 * DAY, refreshed: true },
  { email: 'hello@studio.example', name: 'Studio', agoMs: 2 * MINUTE, refreshed: false },
] as const;

/** Adds them with past times, oldest first. */
export function generateSenderEmails(world: World): void {
  for (const { email, name, agoMs, refreshed } of senders) {
    const at = world.startedAt - agoMs;
    const sender = addSenderEmail(world, email, name, at);
    if (refreshed && refresh(sender, at + DAY)) sender.updatedAt = at + DAY;
  }
}

// The auto update schedules of the fleet. They started in the past, so their histories contain real runs:
// most succeeded, some had nothing to update, some had sites with problems.

const all = { selection: 'all', filenames: [] as string[] } as const;
const neutral = { core: false, plugins: null, themes: null, backup: false, visualRegression: false };

/** Adds the schedules, oldest first. Each has suitable sites of this fleet. */
export function generateSchedules(world: World): void {
  const sites = [...world.sites.values()].slice(0, 400);
  const plain = sites.filter((site) => site.connected && !site.locked && !isInTrouble(site));
  const idsOf = (chosen: readonly Site[]) => chosen.map(({ id }) => id);
  const specs: (ScheduleFields & { agoDays: number; paused?: true })[] = [
    {
      ...neutral,
      agoDays: 100,
      name: 'Weekly core and themes',
      schedule: 'weekly_on_day',
      startedAt: past(world, 70, 3),
      siteIds: idsOf(plain.slice(0, 6)),
      core: true,
      themes: { ...all },
      backup: true,
    },
    {
      ...neutral,
      agoDays: 60,
      name: 'Old hosting',
      schedule: 'biweekly',
      startedAt: past(world, 50, 4),
      siteIds: idsOf([...plain.slice(6, 7), ...sites.filter(isFailing).slice(0, 2)]),
      plugins: { ...all },
      backup: true,
    },
    {
      ...neutral,
      agoDays: 45,
      name: 'Being rebuilt',
      schedule: 'weekly_on_day',
      startedAt: past(world, 25, 5),
      siteIds: idsOf(sites.filter(isBeingRebuilt).slice(0, 2)),
      plugins: { ...all },
      themes: { ...all },
    },
    {
      ...neutral,
      agoDays: 40,
      name: 'Nightly plugins',
      schedule: 'daily',
      startedAt: past(world, 20, 2),
      siteIds: idsOf(plain.slice(0, 4)),
      plugins: { ...all },
      backup: true,
      visualRegression: true,
    },
    {
      ...neutral,
      agoDays: 30,
      name: 'Shops',
      schedule: 'monthly_on_week',
      startedAt: past(world, 29, 1),
      siteIds: idsOf(plain.slice(4, 8)),
      plugins: { selection: 'specific', filenames: ['shop/shop.php'] },
      paused: true,
    },
    {
      ...neutral,
      agoDays: 3,
      name: 'Everything',
      schedule: 'monthly_last_day',
      startedAt: past(world, -1, 2),
      siteIds: null,
      core: true,
      plugins: { ...all },
      themes: { ...all },
    },
  ];
  for (const { agoDays, paused, ...fields } of specs) {
    if (fields.siteIds?.length === 0) continue;
    const schedule = addSchedule(world, fields, world.startedAt - agoDays * DAY);
    if (paused) schedule.status = 'paused';
  }
}

const isFailing = ({ sync }: Site) => sync.failsWith !== null;
const isBeingRebuilt = ({ sync }: Site) => sync.maintenanceUntil !== null;
const isInTrouble = (site: Site) => isFailing(site) || isBeingRebuilt(site);

/** This hour of the day (UTC), this many days before the start of the service. */
function past(world: World, days: number, hour: number): number {
  const midnight = Math.floor(world.startedAt / DAY) * DAY;
  return midnight - days * DAY + hour * HOUR;
}

// The background tasks at the start: some have ended, successfully or not, and two are still running.

interface Spec {
  type: string;
  /** How long before the start of the service it began. */
  agoMs: number;
  takesMs: number;
  sites: number;
  ends?: TaskEnd;
}

const works: readonly Spec[] = [
  { type: 'wp_site_update', agoMs: 6 * DAY, takesMs: 9 * MINUTE, sites: 3 },
  { type: 'download', agoMs: 5 * DAY, takesMs: 4 * MINUTE, sites: 1 },
  { type: 'wp_site_update', agoMs: 4 * DAY, takesMs: 7 * MINUTE, sites: 2, ends: 'failed' },
  { type: 'report', agoMs: 3 * DAY, takesMs: 2 * MINUTE, sites: 1 },
  { type: 'upload', agoMs: 2 * DAY, takesMs: 15 * MINUTE, sites: 1, ends: 'aborted' },
  { type: 'wp_plugin_install', agoMs: DAY, takesMs: MINUTE, sites: 1 },
  { type: 'wp_site_update', agoMs: 5 * MINUTE, takesMs: 2 * HOUR, sites: 4 },
  { type: 'download', agoMs: MINUTE, takesMs: 30 * MINUTE, sites: 1 },
];

/** Starts them in the past, oldest first. Settling the world then brings them up to date. */
export function generateTasks(world: World, random: Random): void {
  const connected = [...world.sites.values()].filter((site) => site.connected);
  if (connected.length === 0) return;
  for (const { agoMs, sites, ...order } of works) {
    const chosen = random.shuffle(connected.slice(0, 50)).slice(0, sites);
    const input = chosen.map((site) => inputOf(order.type, site));
    startTask(world, { ...order, input }, world.startedAt - agoMs);
  }
}

function inputOf(type: string, site: Site): TaskInput {
  if (type !== 'wp_site_update') return { id: site.id };
  const plugin = {
    name: 'Contact Form',
    current_version: '5.9.7',
    target_version: '5.9.8',
    slug: 'contact-form',
    filename: 'contact-form/contact-form.php',
  };
  const options = { backup: true, visual_regression: false, sandbox: false };
  return { id: site.id, options, plugins: [plugin] };
}
