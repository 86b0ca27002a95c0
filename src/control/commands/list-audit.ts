import { z } from 'zod';
import { auditResults } from '../../records/audit-results.ts';
import { NextPage } from '../answers.ts';
import { auditLog } from '../audit-log.ts';
import { AuditReport, toAuditReport } from '../audit-report.ts';
import { defineCommand } from '../command.ts';
import { limit, pastTime, someOf, someText } from '../fields.ts';

export const listAudit = defineCommand()({
  name: 'audit.list',
  summary: 'Lists the audit log, newest first: what people, programs and the daemon did.',
  role: 'operator',
  reads: true,
  path: '/audit',
  input: z.strictObject({
    since: pastTime.describe('Only lines since this time: 2026-11-01T02:00:00Z, 2026-11-01, or 7d ago.'),
    who: someText.describe('A part of the name of who acted.'),
    what: someText.describe('A command or the beginning of it: `runs`, `runs.cancel`, `sign-in`.'),
    policy: someText,
    run: someText,
    account: someText,
    result: someOf(z.enum(auditResults)),
    after: z
      .string()
      .regex(/^\d+-\d+$/)
      .optional()
      .describe('The `next` of the previous page.'),
    limit,
  }),
  // For every operator of something; the answer has the lines that the grants of the caller cover.
  subject: () => undefined,
  carryOut: ({ since, ...query }, { records, clock }, { by }) =>
    auditLog(records, { ...query, since: since?.(clock.now()) }, by.principal),
  answer: z.object({ lines: z.array(AuditReport), ...NextPage }),
  toAnswer: ({ lines, next }) => ({ lines: lines.map(toAuditReport), next: next ?? null }),
});
