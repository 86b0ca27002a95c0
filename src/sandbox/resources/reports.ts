/** Creates, shows and sends reports (spec 4.9). */
import type { Report as ShownReport } from '../../contract/operations/reports.ts';
import { dayIn, isTimezone } from '../../dates.ts';
import type {
  ContentPatch,
  EmailPatch,
  Report,
  ReportContent,
  ReportEmail,
  ReportTemplate,
} from '../model/reporting.ts';
import type { World } from '../model/world.ts';
import { cannot } from '../refusal.ts';
import {
  defaultContent,
  defaultEmail,
  layContent,
  layEmail,
  mailAt,
  sendReport,
  snapshotsCover,
  startReport,
} from '../world/reports.ts';
import { siteWithBackups } from './backups.ts';
import {
  type Handler,
  isEmail,
  itemIn,
  lists,
  requireColor,
  shown,
  shownOrNull,
  taskReference,
} from './handler.ts';
import { reportPdf } from './report-pdf.ts';
import { requireVerifiedSender, senderReference } from './sender-emails.ts';

// The views of reports, their templates and scheduled reports (spec 2.11 to 2.13).

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

export const emailView = (world: World, { senderId, subject, body, attachPdf }: ReportEmail) => ({
  sender_email: senderReference(world, senderId),
  subject,
  body,
  attach_pdf: attachPdf,
});

// Checks that are common to reports, templates and scheduled reports.

/** Merges the request into the content, and checks it. */
export function requireContent(before: ReportContent, sent: ContentPatch): ReportContent {
  if (sent.general?.primary_color !== undefined) requireColor(sent.general.primary_color);
  for (const [name, section] of Object.entries(sent.sections ?? {})) {
    const unknown = Object.keys(section).find((field) => !sectionFields.includes(field));
    if (unknown !== undefined) {
      throw cannot('unknown_section_field', `The section "${name}" has no field "${unknown}".`);
    }
  }
  const content = layContent(before, sent);
  const order = content.section_order;
  if (new Set(order).size < order.length || order.some((name) => !Object.hasOwn(content.sections, name))) {
    throw cannot('invalid_section_order', 'A section order names sections of the report, each once.');
  }
  return content;
}

const sectionFields = ['visible', 'heading', 'description', 'dynamic_data'];

/** Merges the request into the email settings, and checks them. */
export function requireEmailSettings(world: World, before: ReportEmail, sent: EmailPatch): ReportEmail {
  const email = layEmail(before, sent);
  if (sent.sender_email) requireVerifiedSender(world, sent.sender_email.id);
  return email;
}

/** @throws {Refusal} 422 when the template does not exist. */
export function requireTemplate(world: World, id: string): ReportTemplate {
  const template = world.reporting.templates.get(id);
  if (!template) throw cannot('template_not_found', `There is no report template "${id}".`);
  return template;
}

/** @throws {Refusal} 422 for an unknown timezone (in a query it would be 400). */
export function requireTimezone(name: string): string {
  if (!isTimezone(name)) throw cannot('invalid_timezone', `There is no timezone "${name}".`);
  return name;
}

/** Each address once. @throws {Refusal} 422 for an invalid one. */
export function requireRecipients(emails: readonly string[]): string[] {
  const wrong = emails.find((email) => !isEmail(email));
  if (wrong !== undefined) throw cannot('invalid_email', `"${wrong}" is no e-mail address.`);
  return [...new Set(emails)];
}

const reportOf = (world: World, id: string): Report => itemIn(world.reporting.reports, 'report', id);

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
