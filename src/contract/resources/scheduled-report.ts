/** Reports that the service makes and sends on a schedule (spec 2.13). */
import { z } from 'zod';
import { idSchema, known, part, timestamp } from '../schema.ts';
import { reportContent, reportEmail } from './report-template.ts';

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
