/** Creates, shows and sends reports (spec 4.9). */
import { z } from 'zod';
import { field, ids, listTimestamp, oneOf, text } from '../list.ts';
import { operationsOf } from '../operation.ts';
import { day, idOf, idSchema, known, part, timestamp } from '../schema.ts';
import { reportContentBody, reportEmailBody } from './report-templates.ts';
import { BatchMeta, ItemRefusal, PageMeta, TaskReference } from './shared.ts';

// Reports on a site for a client, and their recipients (spec 2.11).

/** The status of a report's mail to a recipient. */
export const recipientStatuses = ['sent', 'delivered', 'opened', 'failed', 'bounced', 'spam'] as const;

const Recipient = part(
  {
    email: z.string(),
    status: known(...recipientStatuses),
    sent_at: z.nullable(timestamp),
    delivered_at: z.nullable(timestamp),
    opened_at: z.nullable(timestamp),
  },
  'email',
);

export const Report = part(
  {
    id: idSchema,
    site: part({ id: idSchema, title: z.string(), url: z.string() }, 'id'),
    title: z.string(),
    type: known('one_time', 'scheduled'),
    client: z.nullable(part({ id: idSchema, name: z.string(), email: z.string() })),
    start_date: day,
    end_date: day,
    created_at: timestamp,
    email: part({
      subject: z.string(),
      body: z.nullable(z.string()),
      attach_pdf: z.boolean(),
      sender_email: z.nullable(part({ id: idSchema, email: z.string() })),
      recipients: z.array(Recipient),
    }),
  },
  'id',
);
export type Report = z.output<typeof Report>;

const operation = operationsOf('4.9');

export const reportOperations = {
  listReports: operation({
    summary: 'Lists reports.',
    method: 'GET',
    path: '/reports',
    answer: part({ reports: z.array(Report), meta: PageMeta }, 'reports'),
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
    errors: [422],
    effect: 'once',
  }),
  showReport: operation({
    summary: 'Shows a report and who has received it.',
    method: 'GET',
    path: '/reports/{report_id}',
    answer: part({ report: Report }, 'report'),
  }),
  deleteReport: operation({
    summary: 'Deletes a report.',
    destructive: 'The report and its PDF are lost.',
    method: 'DELETE',
    path: '/reports/{report_id}',
    effect: 'repeatable',
  }),
  downloadReport: operation({
    summary: 'Downloads a completed report.',
    method: 'GET',
    path: '/reports/{report_id}/download',
    answers: 'pdf',
  }),
  sendReportEmail: operation({
    summary: 'Sends a completed report by email; refused recipients are reported one by one.',
    destructive: 'Sends mail to clients, which cannot be taken back.',
    method: 'POST',
    path: '/reports/{report_id}/send-email',
    body: z.strictObject({
      send_email: z.strictObject({ recipients: z.array(z.string()), ...reportEmailBody }),
    }),
    bodyRequired: true,
    answer: part(
      {
        send_email: part({ recipients: z.array(z.string()), errors: z.array(ItemRefusal) }),
        meta: BatchMeta,
      },
      'send_email',
    ),
    errors: [422],
    effect: 'once',
  }),
} as const;
