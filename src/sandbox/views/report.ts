/** The views of reports, their templates and scheduled reports (spec 2.11 to 2.13). */
import type { Report as ShownReport } from '../../contract/resources/report.ts';
import type {
  ReportTemplateDetails,
  ReportTemplate as ShownTemplate,
} from '../../contract/resources/report-template.ts';
import type {
  ScheduledReportDetails,
  ScheduledReport as ShownScheduledReport,
} from '../../contract/resources/scheduled-report.ts';
import type { Report, ReportEmail, ReportTemplate, ScheduledReport } from '../model/reporting.ts';
import type { World } from '../model/world.ts';
import { mailAt } from '../world/mail.ts';
import { titleOf } from '../world/scheduled-reports.ts';
import { shown, shownOrNull } from './account.ts';
import { senderReference } from './sender-email.ts';

/** A report, with the current status of the mail to each recipient. */
export const reportView = (world: World, report: Report, now: number): ShownReport => ({
  id: report.id,
  site: report.site,
  title: report.title,
  type: report.type,
  client: report.client,
  start_date: report.startDate,
  end_date: report.endDate,
  created_at: shown(report.createdAt),
  email: {
    ...emailView(world, report.email),
    subject: subjectOf(report),
    recipients: report.sentTo.map((sent) => {
      const { email, status, sentAt, deliveredAt, openedAt } = mailAt(sent, world.reporting, now);
      return {
        email,
        status,
        sent_at: shown(sentAt),
        delivered_at: shownOrNull(deliveredAt),
        opened_at: shownOrNull(openedAt),
      };
    }),
  },
});

/**
 * The specification does not show the subject of a report before it is sent. Here it is one that no caller
 * has set.
 */
const subjectOf = ({ type, title, email, sentTo }: Report): string =>
  type === 'one_time' && sentTo.length === 0 ? title : email.subject;

/** A template in lists: its sites, without its content. */
export const templateView = (world: World, template: ReportTemplate): ShownTemplate => ({
  id: template.id,
  site_ids: sitesUsing(world, template.id),
  name: template.name,
  created_at: shown(template.createdAt),
  updated_at: shown(template.updatedAt),
});

/** The single view of a template. */
export const templateDetails = (world: World, template: ReportTemplate): ReportTemplateDetails => ({
  ...templateView(world, template),
  ...template.content,
  email: emailView(world, template.email),
});

/** The sites whose scheduled report, active or paused, uses the template. */
export const sitesUsing = (world: World, templateId: string): string[] =>
  [...world.reporting.scheduled.values()]
    .filter((scheduled) => scheduled.templateId === templateId)
    .map(({ siteId }) => siteId);

/** A scheduled report in lists. */
export const scheduledReportView = (world: World, scheduled: ScheduledReport): ShownScheduledReport => ({
  ...common(world, scheduled),
  email: { recipients: [...scheduled.recipients] },
});

/** The single view of a scheduled report, with the content of its reports. */
export const scheduledReportDetails = (world: World, scheduled: ScheduledReport): ScheduledReportDetails => ({
  ...common(world, scheduled),
  report_template_data: {
    ...scheduled.content,
    email: {
      ...emailView(world, scheduled.email),
      send_to_client: scheduled.sendToClient,
      recipients: [...scheduled.recipients],
    },
  },
});

function common(world: World, scheduled: ScheduledReport) {
  const site = world.sites.get(scheduled.siteId);
  if (!site) throw new Error(`The scheduled report ${scheduled.id} has outlived its site.`);
  return {
    id: scheduled.id,
    site: { id: site.id, title: site.title, url: site.url },
    title: titleOf(scheduled, site),
    template_id: scheduled.templateId,
    status: scheduled.status,
    frequency: scheduled.frequency,
    timezone: scheduled.timezone,
    started_at: shown(scheduled.startedAt),
    next_report_at: shown(scheduled.nextAt),
    created_at: shown(scheduled.createdAt),
    updated_at: shown(scheduled.updatedAt),
  };
}

const emailView = (world: World, { senderId, subject, body, attachPdf }: ReportEmail) => ({
  sender_email: senderReference(world, senderId),
  subject,
  body,
  attach_pdf: attachPdf,
});
