import type { Report, ReportOrder, SentTo } from '../model/reporting.ts';
import type { Site } from '../model/site.ts';
import type { Task } from '../model/tasks.ts';
import type { World } from '../model/world.ts';
import { idOf, nextNumber } from './ids.ts';
import { snapshotsCover } from './report-period.ts';
import { SECOND } from './service-time.ts';
import { startTask } from './tasks.ts';

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
