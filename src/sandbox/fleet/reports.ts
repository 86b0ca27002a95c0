/** The report templates of the fleet, its scheduled reports, and the reports that they have made so far. */

import { isoDay } from '../../dates.ts';
import type { ReportTemplate } from '../model/reporting.ts';
import type { Site } from '../model/site.ts';
import type { World } from '../model/world.ts';
import { idOf, nextNumber } from '../world/ids.ts';
import { defaultContent, defaultEmail } from '../world/report-content.ts';
import { startReport } from '../world/reports.ts';
import { addScheduledReport } from '../world/scheduled-reports.ts';
import { DAY, HOUR } from '../world/service-time.ts';

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
