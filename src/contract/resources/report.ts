/** Reports on a site for a client, and their recipients (spec 2.11). */
import { z } from 'zod';
import { day, idSchema, known, part, timestamp } from '../schema.ts';

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
