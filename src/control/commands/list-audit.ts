import { z } from 'zod';
import { auditResults } from '../../records/audit-results.ts';
import { auditLog } from '../audit-log.ts';
import { AuditReport, toAuditReport } from '../audit-report.ts';
import { defineCommand } from '../command.ts';
import { someOf, someText } from '../fields.ts';

export const listAudit = defineCommand()({
  name: 'audit.list',
  summary: 'Lists the audit log, newest first: what people, programs and the daemon did.',
  role: 'operator',
  reads: true,
  path: '/audit',
  input: z.strictObject({
    since: z.iso.datetime({ offset: true }).optional().describe('Only lines since this time.'),
    who: someText.describe('A part of the name of who acted.'),
    what: someText.describe('A command or the beginning of it: `runs`, `runs.cancel`, `sign-in`.'),
    policy: someText,
    run: someText,
    account: someText,
    result: someOf(z.enum(auditResults)),
    before: z
      .string()
      .regex(/^\d+-\d+$/)
      .optional()
      .describe('The `next` of the previous page.'),
    limit: z.coerce.number().int().min(1).max(1000).default(100),
  }),
  // For every operator of something; the answer has the lines that the grants of the caller cover.
  subject: () => undefined,
  carryOut: ({ since, ...query }, { records }, { by }) =>
    auditLog(
      records,
      { ...query, ...(since === undefined ? {} : { since: Date.parse(since) }) },
      by.principal,
    ),
  answer: z.object({ lines: z.array(AuditReport), next: z.string().nullable() }),
  toAnswer: ({ lines, next }) => ({ lines: lines.map(toAuditReport), next: next ?? null }),
});
