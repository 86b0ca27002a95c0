/** Sender addresses of reports, and the DNS records that verify them (spec 2.5). */
import { z } from 'zod';
import { idSchema, known, part, timestamp } from '../schema.ts';

const DnsRecord = part({ hostname: z.string(), value: z.string(), verified: z.boolean() });

export const SenderEmail = part(
  {
    id: idSchema,
    email: z.string(),
    name: z.string(),
    status: known('pending', 'verified'),
    domain: part({ dkim: DnsRecord, return_path: DnsRecord }),
    created_at: timestamp,
    updated_at: timestamp,
  },
  'id',
);
export type SenderEmail = z.output<typeof SenderEmail>;
