/** Report templates (spec 4.10). */
import { z } from 'zod';
import { field, ids, listTimestamp, text } from '../list.ts';
import { operationsOf } from '../operation.ts';
import { idOf, idSchema, nonBlank, part, timestamp } from '../schema.ts';
import { BatchDeletion, batchIds, PageMeta } from './shared.ts';

// Report templates (spec 2.12), and the report content that templates, reports and scheduled reports share,
// in answers and in requests.

// Not specified: names of sections other than cover and introduction, and their fields.
const Section = part({
  visible: z.optional(z.boolean()),
  heading: z.optional(z.string()),
  description: z.optional(z.string()),
  dynamic_data: z.optional(z.record(z.string(), z.unknown())),
});

/** The content of a report in answers. */
export const reportContent = {
  general: part({ primary_color: z.string(), language: z.string(), date_format: z.string() }),
  sections: z.record(z.string(), Section),
  section_order: z.array(z.string()),
};

/** The email settings of a report in answers. */
export const reportEmail = {
  sender_email: z.nullable(part({ id: idSchema, email: z.string() })),
  subject: z.string(),
  body: z.string(),
  attach_pdf: z.boolean(),
};

/** The content of a report in requests. Not specified: which fields are required, and most allowed values. */
export const reportContentBody = {
  general: z.optional(
    z.strictObject({
      primary_color: z.optional(z.string()),
      language: z.optional(z.string()),
      date_format: z.optional(z.string()),
    }),
  ),
  sections: z.optional(
    z.record(
      z.string(),
      z.looseObject({
        visible: z.optional(z.boolean()),
        heading: z.optional(z.string()),
        description: z.optional(z.string()),
        dynamic_data: z.optional(z.record(z.string(), z.unknown())),
      }),
    ),
  ),
  section_order: z.optional(z.array(z.string())),
};

/** The email settings of a report in requests. */
export const reportEmailBody = {
  sender_email: z.optional(z.nullable(z.strictObject({ id: idOf('sender') }))),
  subject: z.optional(z.string()),
  body: z.optional(z.string()),
  attach_pdf: z.optional(z.boolean()),
};

const listed = {
  id: idSchema,
  site_ids: z.array(idSchema),
  name: z.string(),
  created_at: timestamp,
  updated_at: timestamp,
};

/** A template in lists. */
export const ReportTemplate = part(listed, 'id');
export type ReportTemplate = z.output<typeof ReportTemplate>;

/** The single view of a template. */
export const ReportTemplateDetails = part({ ...listed, ...reportContent, email: part(reportEmail) }, 'id');
export type ReportTemplateDetails = z.output<typeof ReportTemplateDetails>;

const reportTemplate = part({ report_template: ReportTemplateDetails }, 'report_template');
const fields = {
  name: nonBlank,
  ...reportContentBody,
  email: z.optional(z.strictObject(reportEmailBody)),
};

const operation = operationsOf('4.10');

export const reportTemplateOperations = {
  listReportTemplates: operation({
    summary: 'Lists report templates, without their content.',
    method: 'GET',
    path: '/report-templates',
    answer: part({ report_templates: z.array(ReportTemplate), meta: PageMeta }, 'report_templates'),
    list: {
      key: 'report_templates',
      filters: {
        name: text('contains'),
        created_at: field('created_at', listTimestamp('gte', 'lte')),
        updated_at: field('updated_at', listTimestamp('gte', 'lte')),
        site_id: ids('site', 'in'),
      },
      sorts: ['name', 'created_at', 'updated_at'],
      defaultSort: 'created_at,desc',
      timezone: true,
      paged: true,
    },
  }),
  createReportTemplate: operation({
    summary: 'Creates a report template.',
    method: 'POST',
    path: '/report-templates',
    body: z.strictObject({ report_template: z.strictObject(fields) }),
    bodyRequired: true,
    success: 201,
    answer: reportTemplate,
    errors: [422],
    effect: 'once',
  }),
  showReportTemplate: operation({
    summary: 'Shows a report template and its content.',
    method: 'GET',
    path: '/report-templates/{report_template_id}',
    answer: reportTemplate,
  }),
  updateReportTemplate: operation({
    summary: 'Changes a report template; omitted fields stay.',
    method: 'POST',
    path: '/report-templates/{report_template_id}/update',
    body: z.strictObject({ report_template: z.strictObject(fields).partial() }),
    bodyRequired: true,
    answer: reportTemplate,
    errors: [422],
    effect: 'repeatable',
  }),
  deleteReportTemplates: operation({
    summary: 'Deletes report templates; unknown ones and those in use are reported one by one.',
    destructive: 'The templates are lost, and reports can no longer be made from them.',
    method: 'POST',
    path: '/report-templates/delete',
    body: batchIds('template'),
    bodyRequired: true,
    answer: BatchDeletion,
    effect: 'repeatable',
  }),
} as const;
