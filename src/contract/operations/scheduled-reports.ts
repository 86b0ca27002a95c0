/** Reports that the service makes and sends on a schedule (spec 4.11). */
import { z } from 'zod';
import { field, ids, listTimestamp, oneOf } from '../list.ts';
import { operation } from '../operation.ts';
import { reportContentBody, reportEmailBody } from '../resources/report-template.ts';
import { frequencies, ScheduledReport, ScheduledReportDetails } from '../resources/scheduled-report.ts';
import { PageMeta } from '../resources/shared.ts';
import { idOf, part, sentTimestamp } from '../schema.ts';

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

export const scheduledReportOperations = {
  listScheduledReports: operation({
    section: '4.11',
    summary: 'Lists scheduled reports.',
    method: 'GET',
    path: '/scheduled-reports',
    success: 200,
    answer: part({ scheduled_reports: z.array(ScheduledReport), meta: PageMeta }, 'scheduled_reports'),
    errors: [400, 401, 403, 429],
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
    section: '4.11',
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
    errors: [400, 401, 403, 404, 422, 429],
    effect: 'once',
  }),
  showScheduledReport: operation({
    section: '4.11',
    summary: 'Shows a scheduled report and its content.',
    method: 'GET',
    path: '/scheduled-reports/{scheduled_report_id}',
    success: 200,
    answer: scheduledReport,
    errors: [401, 403, 404, 429],
  }),
  deleteScheduledReport: operation({
    section: '4.11',
    summary: 'Deletes a scheduled report.',
    destructive: 'The report is no longer made or sent, and its settings are lost.',
    method: 'DELETE',
    path: '/scheduled-reports/{scheduled_report_id}',
    success: 204,
    errors: [401, 403, 404, 422, 429],
    effect: 'repeatable',
  }),
  updateScheduledReport: operation({
    section: '4.11',
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
    success: 200,
    answer: scheduledReport,
    errors: [400, 401, 403, 404, 422, 429],
    effect: 'repeatable',
  }),
  pauseScheduledReport: operation({
    section: '4.11',
    summary: 'Pauses a scheduled report.',
    method: 'POST',
    path: '/scheduled-reports/{scheduled_report_id}/pause',
    success: 200,
    answer: scheduledReport,
    errors: [401, 403, 404, 422, 429],
    effect: 'repeatable',
    leadsTo: { status: 'paused' },
  }),
  resumeScheduledReport: operation({
    section: '4.11',
    summary: 'Resumes a paused scheduled report.',
    method: 'POST',
    path: '/scheduled-reports/{scheduled_report_id}/resume',
    success: 200,
    answer: scheduledReport,
    errors: [401, 403, 404, 422, 429],
    effect: 'repeatable',
    leadsTo: { status: 'active' },
  }),
} as const;
