/** Reports that the service makes and sends on a schedule (spec 4.11). */
import { z } from 'zod';
import { field, ids, listTimestamp, oneOf } from '../list.ts';
import { operationsOf } from '../operation.ts';
import { idOf, idSchema, known, part, sentTimestamp, timestamp } from '../schema.ts';
import { reportContent, reportContentBody, reportEmail, reportEmailBody } from './report-templates.ts';
import { PageMeta } from './shared.ts';

// Reports that the service makes and sends on a schedule (spec 2.13).

/** How often a scheduled report is made. */
export const frequencies = ['weekly', 'biweekly', 'monthly'] as const;

const shared = {
  id: idSchema,
  site: part({ id: idSchema, title: z.string(), url: z.string() }, 'id'),
  title: z.string(),
  // Creating takes no template, so there may be none; the spec does not show that.
  template_id: z.nullable(idSchema),
  status: known('active', 'paused'),
  frequency: known(...frequencies),
  timezone: z.string(),
  started_at: timestamp,
  next_report_at: timestamp,
  created_at: timestamp,
  updated_at: timestamp,
};

/** A scheduled report in lists. */
export const ScheduledReport = part({ ...shared, email: part({ recipients: z.array(z.string()) }) }, 'id');
export type ScheduledReport = z.output<typeof ScheduledReport>;

/** The single view of a scheduled report, with the content of its reports. */
export const ScheduledReportDetails = part(
  {
    ...shared,
    report_template_data: part({
      ...reportContent,
      email: part({ ...reportEmail, send_to_client: z.boolean(), recipients: z.array(z.string()) }),
    }),
  },
  'id',
);
export type ScheduledReportDetails = z.output<typeof ScheduledReportDetails>;

const scheduledReport = part({ scheduled_report: ScheduledReportDetails }, 'scheduled_report');
const content = z.strictObject({
  ...reportContentBody,
  email: z.optional(
    z.strictObject({
      ...reportEmailBody,
      send_to_client: z.optional(z.boolean()),
      recipients: z.optional(z.array(z.string())),
    }),
  ),
});

const operation = operationsOf('4.11');

export const scheduledReportOperations = {
  listScheduledReports: operation({
    summary: 'Lists scheduled reports.',
    method: 'GET',
    path: '/scheduled-reports',
    answer: part({ scheduled_reports: z.array(ScheduledReport), meta: PageMeta }, 'scheduled_reports'),
    list: {
      key: 'scheduled_reports',
      filters: {
        site_id: field('site.id', ids('site', 'eq')),
        status: field('status', oneOf(['active', 'paused'], 'eq')),
        frequency: field('frequency', oneOf(frequencies, 'eq')),
        created_at: field('created_at', listTimestamp('gte', 'lte')),
      },
      sorts: ['created_at', 'next_report_at'],
      defaultSort: 'created_at,desc',
      timezone: true,
      paged: true,
    },
  }),
  createScheduledReport: operation({
    summary: 'Schedules a report for a site that has none scheduled.',
    method: 'POST',
    path: '/scheduled-reports',
    body: z.strictObject({
      scheduled_report: z.strictObject({
        site_id: idOf('site'),
        timezone: z.optional(z.string()),
        started_at: sentTimestamp,
        frequency: z.enum(frequencies),
        report_template_data: z.optional(content),
      }),
    }),
    bodyRequired: true,
    success: 201,
    answer: scheduledReport,
    errors: [404, 422],
    effect: 'once',
  }),
  showScheduledReport: operation({
    summary: 'Shows a scheduled report and its content.',
    method: 'GET',
    path: '/scheduled-reports/{scheduled_report_id}',
    answer: scheduledReport,
  }),
  deleteScheduledReport: operation({
    summary: 'Deletes a scheduled report.',
    destructive: 'The report is no longer made or sent, and its settings are lost.',
    method: 'DELETE',
    path: '/scheduled-reports/{scheduled_report_id}',
    errors: [422],
    effect: 'repeatable',
  }),
  updateScheduledReport: operation({
    summary: 'Changes a scheduled report; omitted fields stay.',
    method: 'POST',
    path: '/scheduled-reports/{scheduled_report_id}/update',
    body: z.strictObject({
      scheduled_report: z.strictObject({
        timezone: z.optional(z.string()),
        started_at: z.optional(sentTimestamp),
        frequency: z.optional(z.enum(frequencies)),
        template_id: z.optional(idOf('template')),
        report_template_data: z.optional(content),
      }),
    }),
    bodyRequired: true,
    answer: scheduledReport,
    errors: [422],
    effect: 'repeatable',
  }),
  pauseScheduledReport: operation({
    summary: 'Pauses a scheduled report.',
    method: 'POST',
    path: '/scheduled-reports/{scheduled_report_id}/pause',
    answer: scheduledReport,
    errors: [422],
    effect: 'repeatable',
    leadsTo: { status: 'paused' },
  }),
  resumeScheduledReport: operation({
    summary: 'Resumes a paused scheduled report.',
    method: 'POST',
    path: '/scheduled-reports/{scheduled_report_id}/resume',
    answer: scheduledReport,
    errors: [422],
    effect: 'repeatable',
    leadsTo: { status: 'active' },
  }),
} as const;
