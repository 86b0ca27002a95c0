/** Creates, shows and sends reports (spec 4.9). */
import { dayIn } from '../../dates.ts';
import type { Report } from '../model/reporting.ts';
import type { World } from '../model/world.ts';
import { cannot, notFound } from '../refusal.ts';
import { reportView } from '../views/report.ts';
import { reportPdf } from '../views/report-pdf.ts';
import { mailAt } from '../world/mail.ts';
import { defaultContent, defaultEmail } from '../world/report-content.ts';
import { snapshotsCover } from '../world/report-period.ts';
import { sendReport, startReport } from '../world/reports.ts';
import { siteWithBackups } from './backup-parts.ts';
import { type Handler, lists } from './handler.ts';
import { requireContent, requireEmailSettings, requireTemplate, requireTimezone } from './report-parts.ts';

import { taskReference } from './task-reference.ts';
import { isEmail } from './texts.ts';

function reportOf(world: World, id: string): Report {
  const report = world.reporting.reports.get(id);
  if (!report) throw notFound('report', id);
  return report;
}

/** A report as it is listed, with the values that filters compare with its sender and recipients. */
type Listed = Report & { senders: readonly string[]; statuses: readonly string[] };

export const listReports = lists<'listReports', Listed>({
  items: ({ world, now }) =>
    [...world.reporting.reports.values()].map((report) => {
      const sender = world.senderEmails.get(report.email.senderId ?? '');
      const statuses = report.sentTo.map((sent) => mailAt(sent, world.reporting, now).status);
      return { ...report, senders: sender ? [sender.email, sender.id] : [], statuses };
    }),
  fields: {
    type: (report) => report.type,
    site_id: (report) => report.site.id,
    client_id: (report) => report.client?.id ?? null,
    sender_email: (report) => report.senders,
    recipient_status: (report) => report.statuses,
    created_at: (report) => report.createdAt,
  },
  view: (report, { world, now }) => reportView(world, report, now),
});

export const showReport: Handler<'showReport'> = ({ world, now, params }) => ({
  report: reportView(world, reportOf(world, params.report_id), now),
});

/** The template gives the content and the email settings. The request overrides them. */
export const createReport: Handler<'createReport'> = ({ world, now, body, changed }) => {
  const { site_id, timezone = 'UTC', start_date, end_date, template_id, report_template_data } = body.report;
  if (!world.sites.has(site_id)) throw cannot('site_not_found', `There is no site "${site_id}".`);
  const site = siteWithBackups(world, site_id);
  const zone = requireTimezone(timezone);
  if (start_date > end_date || end_date > dayIn(zone, now)) {
    throw cannot('invalid_period', 'A report ends today or before, and not before it starts.');
  }
  const period = { startDate: start_date, endDate: end_date };
  if (!snapshotsCover(site, period, zone)) {
    throw cannot('snapshots_missing', 'The site has no snapshots that cover these days.');
  }
  const template = template_id === undefined ? undefined : requireTemplate(world, template_id);
  const content = requireContent(template?.content ?? defaultContent(), report_template_data ?? {});
  const email = template?.email ?? defaultEmail();
  const title = `Report on ${site.title}`;
  const order = {
    siteId: site.id,
    title,
    type: 'one_time',
    ...period,
    timezone: zone,
    content,
    email,
  } as const;
  const task = startReport(world, site, { ...order, recipients: [] }, now);
  changed(task.id);
  return taskReference(task);
};

export const deleteReport: Handler<'deleteReport'> = ({ world, params, changed }) => {
  const report = reportOf(world, params.report_id);
  world.reporting.reports.delete(report.id);
  changed(report.id);
};

export const downloadReport: Handler<'downloadReport'> = ({ world, params }) =>
  reportPdf(world, reportOf(world, params.report_id));

/**
 * Invalid addresses are reported one by one; the others are sent the report. The settings are stored in the
 * report.
 */
export const sendReportEmail: Handler<'sendReportEmail'> = ({ world, now, params, body, changed }) => {
  const report = reportOf(world, params.report_id);
  const { recipients, ...settings } = body.send_email;
  const asked = [...new Set(recipients)];
  if (asked.length === 0) throw cannot('no_recipients', 'A report is sent to at least one address.');
  const email = requireEmailSettings(world, report.email, settings);
  const good = asked.filter(isEmail);
  const errors = asked
    .filter((one) => !isEmail(one))
    .map((one) => ({ id: one, code: 'invalid_email', message: `"${one}" is no e-mail address.` }));
  if (good.length > 0) {
    report.email = email;
    sendReport(report, good, now);
    changed(report.id);
  }
  const meta = { requested: asked.length, succeeded: good.length, failed: errors.length };
  return { send_email: { recipients: good, errors }, meta };
};
