/**
 * Report templates (spec 2.12), and the report content that templates, reports and scheduled reports share,
 * in answers and in requests.
 */
import { z } from 'zod';
import { idOf, idSchema, part, timestamp } from '../schema.ts';

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
