import { z } from 'zod';
import { isPermitted } from '../../access/principal.ts';
import { findingStates, severities } from '../../records/filter-values.ts';
import { defineCommand } from '../command.ts';
import { limit, nextOf, pastTime, someOf, someText } from '../fields.ts';
import { FindingReport, toFindingReport } from '../finding-report.ts';
import { listFindings } from '../findings.ts';

const text = z.string().min(1).max(200).optional();

export const listFindingsCommand = defineCommand()({
  name: 'findings.list',
  summary:
    'Lists the findings of all policies: the most severe first, then by policy, in each the newest first.',
  role: 'viewer',
  reads: true,
  path: '/findings',
  input: z.strictObject({
    severity: someOf(z.enum(severities)),
    state: someOf(z.enum(findingStates)).describe(
      'Default: all that are not resolved. `resolved` is listed alone.',
    ),
    policy: someText,
    account: someText,
    search: text.describe('A part of the target, its label, the subject or the message, in any case.'),
    since: pastTime.describe(
      'First seen at or after this time: 2026-11-01, 2026-11-01T02:00:00Z, or 7d ago.',
    ),
    until: pastTime.describe('First seen before this time, written as `since`.'),
    ...nextOf,
    limit,
  }),
  // The answer has the findings of what the grants cover.
  subject: () => undefined,
  async carryOut(
    { limit: count, after, since, until, ...filter },
    { records, clock },
    { by: { principal } },
  ) {
    const now = clock.now();
    return listFindings(
      records,
      { ...filter, since: since?.(now), until: until?.(now) },
      { limit: count, after, now, sees: (of) => isPermitted(principal, 'viewer', of) },
    );
  },
  answer: z.object({
    findings: z.array(FindingReport),
    next: z
      .string()
      .nullable()
      .describe('Null at the end. With `search`, a page may be short and still have a next one.'),
  }),
  toAnswer: ({ findings, next }) => ({ findings: findings.map(toFindingReport), next: next ?? null }),
});
