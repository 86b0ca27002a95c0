/** Sender addresses of reports, and their verification (spec 4.5). */
import { z } from 'zod';
import { field, flag, listTimestamp, oneOf, text } from '../list.ts';
import { operationsOf } from '../operation.ts';
import { idSchema, known, nonBlank, part, timestamp } from '../schema.ts';
import { PageMeta } from './shared.ts';

// Sender addresses of reports, and the DNS records that verify them (spec 2.5).

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

const senderEmail = part({ sender_email: SenderEmail }, 'sender_email');

const operation = operationsOf('4.5');

export const senderEmailOperations = {
  listSenderEmails: operation({
    summary: 'Lists sender emails.',
    method: 'GET',
    path: '/sender-emails',
    answer: part({ sender_emails: z.array(SenderEmail), meta: PageMeta }, 'sender_emails'),
    errors: [422],
    list: {
      key: 'sender_emails',
      filters: {
        email: text('contains'),
        name: text('contains'),
        status: field('status', oneOf(['pending', 'verified'], 'eq')),
        domain_dkim_verified: field('domain.dkim.verified', flag('eq')),
        domain_return_path_verified: field('domain.return_path.verified', flag('eq')),
        created_at: field('created_at', listTimestamp('gte', 'lte')),
        updated_at: field('updated_at', listTimestamp('gte', 'lte')),
      },
      sorts: ['email', 'name', 'status', 'created_at', 'updated_at'],
      defaultSort: 'created_at,desc',
      timezone: true,
      paged: true,
    },
  }),
  createSenderEmail: operation({
    summary: 'Adds a sender email and asks its owner to verify it.',
    method: 'POST',
    path: '/sender-emails',
    body: z.strictObject({ sender_email: z.strictObject({ email: nonBlank, name: z.optional(z.string()) }) }),
    bodyRequired: true,
    success: 201,
    answer: senderEmail,
    errors: [422],
    effect: 'once',
  }),
  showSenderEmail: operation({
    summary: 'Shows a sender email.',
    method: 'GET',
    path: '/sender-emails/{sender_email_id}',
    answer: senderEmail,
    errors: [422],
  }),
  deleteSenderEmail: operation({
    summary: 'Deletes a sender email.',
    destructive: 'Mails can no longer be sent from the address before it is verified again.',
    method: 'DELETE',
    path: '/sender-emails/{sender_email_id}',
    errors: [422],
    effect: 'repeatable',
  }),
  updateSenderEmail: operation({
    summary: 'Changes the name or return-path hostname of a sender email.',
    method: 'POST',
    path: '/sender-emails/{sender_email_id}/update',
    // The field of the return-path hostname is not specified, so any other field is accepted.
    body: z.strictObject({ sender_email: z.looseObject({ name: z.optional(z.string()) }) }),
    bodyRequired: true,
    answer: senderEmail,
    errors: [422],
    effect: 'repeatable',
  }),
  resendSenderEmailVerification: operation({
    summary: 'Sends another verification email for a pending sender email.',
    method: 'POST',
    path: '/sender-emails/{sender_email_id}/resend-verification',
    answer: senderEmail,
    errors: [422],
    effect: 'once',
  }),
  rotateSenderEmailDkim: operation({
    summary: 'Creates new DKIM values for a verified sender email; the old ones become invalid.',
    destructive: 'The old key becomes invalid; mails may be refused until the DNS has the new one.',
    method: 'POST',
    path: '/sender-emails/{sender_email_id}/rotate-dkim',
    answer: senderEmail,
    errors: [422],
    effect: 'once',
  }),
  verifySenderEmailDkim: operation({
    summary: 'Checks whether the DKIM record of a verified sender email is published.',
    method: 'POST',
    path: '/sender-emails/{sender_email_id}/verify-dkim',
    answer: senderEmail,
    errors: [422],
    effect: 'repeatable',
  }),
  verifySenderEmailReturnPath: operation({
    summary: 'Checks whether the return-path record of a verified sender email is published.',
    method: 'POST',
    path: '/sender-emails/{sender_email_id}/verify-return-path',
    answer: senderEmail,
    errors: [422],
    effect: 'repeatable',
  }),
  refreshSenderEmail: operation({
    summary: 'Checks again whether the owner has verified a sender email.',
    method: 'POST',
    path: '/sender-emails/{sender_email_id}/refresh',
    answer: senderEmail,
    errors: [422],
    effect: 'repeatable',
  }),
} as const;
