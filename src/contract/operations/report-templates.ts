/** Report templates (spec 4.10). */
import { z } from 'zod';
import { field, ids, listTimestamp, text } from '../list.ts';
import { operation } from '../operation.ts';
import {
  ReportTemplate,
  ReportTemplateDetails,
  reportContentBody,
  reportEmailBody,
} from '../resources/report-template.ts';
import { BatchDeletion, batchIds, PageMeta } from '../resources/shared.ts';
import { nonBlank, part } from '../schema.ts';

const reportTemplate = part({ report_template: ReportTemplateDetails }, 'report_template');
const fields = {
  name: nonBlank,
  ...reportContentBody,
  email: z.optional(z.strictObject(reportEmailBody)),
};

export const reportTemplateOperations = {
  listReportTemplates: operation({
    section: '4.10',
    summary: 'Lists report templates, without their content.',
    method: 'GET',
    path: '/report-templates',
    success: 200,
    answer: part({ report_templates: z.array(ReportTemplate), meta: PageMeta }, 'report_templates'),
    errors: [400, 401, 403, 429],
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
    section: '4.10',
    summary: 'Creates a report template.',
    method: 'POST',
    path: '/report-templates',
    body: z.strictObject({ report_template: z.strictObject(fields) }),
    bodyRequired: true,
    success: 201,
    answer: reportTemplate,
    errors: [400, 401, 403, 422, 429],
    effect: 'once',
  }),
  showReportTemplate: operation({
    section: '4.10',
    summary: 'Shows a report template and its content.',
    method: 'GET',
    path: '/report-templates/{report_template_id}',
    success: 200,
    answer: reportTemplate,
    errors: [401, 403, 404, 429],
  }),
  updateReportTemplate: operation({
    section: '4.10',
    summary: 'Changes a report template; omitted fields stay.',
    method: 'POST',
    path: '/report-templates/{report_template_id}/update',
    body: z.strictObject({ report_template: z.strictObject(fields).partial() }),
    bodyRequired: true,
    success: 200,
    answer: reportTemplate,
    errors: [400, 401, 403, 404, 422, 429],
    effect: 'repeatable',
  }),
  deleteReportTemplates: operation({
    section: '4.10',
    summary: 'Deletes report templates; unknown ones and those in use are reported one by one.',
    destructive: 'The templates are lost, and reports can no longer be made from them.',
    method: 'POST',
    path: '/report-templates/delete',
    body: batchIds('template'),
    bodyRequired: true,
    success: 200,
    answer: BatchDeletion,
    errors: [400, 401, 403, 429],
    effect: 'repeatable',
  }),
} as const;
