/** Creates, shows and sends reports (spec 4.9). */
import { z } from 'zod';
import { field, ids, listTimestamp, oneOf, text } from '../list.ts';
import { operation } from '../operation.ts';
import { Report, recipientStatuses } from '../resources/report.ts';
import { reportContentBody, reportEmailBody } from '../resources/report-template.ts';
import { BatchMeta, ItemRefusal, PageMeta, TaskReference } from '../resources/shared.ts';
import { day, idOf, part } from '../schema.ts';

export const reportOperations = {
  listReports: operation({
    section: '4.9',
    summary: 'Lists reports.',
    method: 'GET',
    path: '/reports',
    success: 200,
    answer: part({ reports: z.array(Report), meta: PageMeta }, 'reports'),
    errors: [400, 401, 403, 429],
    list: {
      key: 'reports',
      filters: {
        type: field('type', oneOf(['one_time', 'scheduled'], 'eq')),
        site_id: field('site.id', ids('site', 'eq')),
        client_id: field('client.id', ids('client', 'eq')),
        sender_email: text('eq'),
        recipient_status: oneOf(recipientStatuses, 'eq'),
        created_at: field('created_at', listTimestamp('gte', 'lte')),
      },
      sorts: ['created_at'],
      defaultSort: 'created_at,desc',
      timezone: true,
      paged: true,
    },
  }),
  createReport: operation({
    section: '4.9',
    summary: 'Starts making a report on a site; its snapshots must cover the days.',
    method: 'POST',
    path: '/reports',
    // Not specified: whether template_id and report_template_data exclude or require each other.
    body: z.strictObject({
      report: z.strictObject({
        site_id: idOf('site'),
        timezone: z.optional(z.string()),
        start_date: day,
        end_date: day,
        template_id: z.optional(idOf('template')),
        report_template_data: z.optional(z.strictObject(reportContentBody)),
      }),
    }),
    bodyRequired: true,
    success: 201,
    answer: TaskReference,
    errors: [400, 401, 403, 422, 429],
    effect: 'once',
  }),
  showReport: operation({
    section: '4.9',
    summary: 'Shows a report and who has received it.',
    method: 'GET',
    path: '/reports/{report_id}',
    success: 200,
    answer: part({ report: Report }, 'report'),
    errors: [401, 403, 404, 429],
  }),
  deleteReport: operation({
    section: '4.9',
    summary: 'Deletes a report.',
    destructive: 'The report and its PDF are lost.',
    method: 'DELETE',
    path: '/reports/{report_id}',
    success: 204,
    errors: [401, 403, 404, 429],
    effect: 'repeatable',
  }),
  downloadReport: operation({
    section: '4.9',
    summary: 'Downloads a completed report.',
    method: 'GET',
    path: '/reports/{report_id}/download',
    success: 200,
    answers: 'pdf',
    errors: [401, 403, 404, 429],
  }),
  sendReportEmail: operation({
    section: '4.9',
    summary: 'Sends a completed report by email; refused recipients are reported one by one.',
    destructive: 'Sends mail to clients, which cannot be taken back.',
    method: 'POST',
    path: '/reports/{report_id}/send-email',
    body: z.strictObject({
      send_email: z.strictObject({ recipients: z.array(z.string()), ...reportEmailBody }),
    }),
    bodyRequired: true,
    success: 200,
    answer: part(
      {
        send_email: part({ recipients: z.array(z.string()), errors: z.array(ItemRefusal) }),
        meta: BatchMeta,
      },
      'send_email',
    ),
    errors: [400, 401, 403, 404, 422, 429],
    effect: 'once',
  }),
} as const;
