/** Scheduled reports (spec 2.13): each time a task of type report, and then a report that is sent. */

import type { ScheduledReport } from '../model/reporting.ts';
import type { Site } from '../model/site.ts';
import type { Recurrence } from '../model/tasks.ts';
import type { World } from '../model/world.ts';
import { idOf, nextNumber } from './ids.ts';
import { nextOccurrence } from './recurrence.ts';
import { periodBefore } from './report-period.ts';
import { startReport } from './reports.ts';

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
