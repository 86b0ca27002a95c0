import { z } from 'zod';
import { isPermitted } from '../../access/principal.ts';
import { isoTime, isoTimeOrNull } from '../../clock.ts';
import { findingStates, severities } from '../../records/filter-values.ts';
import { defineCommand } from '../command.ts';
import { limit, nextOf, pastTime, someOf, someText } from '../fields.ts';
import { type ListedFinding, listFindings } from '../findings.ts';

/** A finding as programs see it: the HTTP API, `--json` and CSV. */
export const FindingReport = z
  .object({
    account: z.string(),
    policy: z.string(),
    target: z.string(),
    label: z.string(),
    about: z
      .string()
      .describe('What it is about: the site, a plugin. One target has one finding of a policy about it.'),
    severity: z.enum(severities),
    message: z.string(),
    state: z.enum(findingStates),
    since: z.iso.datetime().describe('When the first run began that saw it.'),
    last_run: z.string().describe('The last run that saw it.'),
    last_seen_at: z.iso.datetime().describe('When that run began: the finding is as of then.'),
    resolved_at: z.iso.datetime().nullable().describe('When the run began that found it resolved.'),
    acknowledged_by: z.string().nullable(),
    acknowledged_until: z.iso
      .datetime()
      .nullable()
      .describe('Null for an acknowledged finding: until it is resolved.'),
    acknowledged_reason: z.string().nullable(),
  })
  .meta({ id: 'ListedFinding' });
export type FindingReport = z.output<typeof FindingReport>;

export const findingColumns = Object.keys(FindingReport.shape);

export const toFindingReport = (finding: ListedFinding): FindingReport => {
  const { account, policy, target, label, about, severity, message, state } = finding;
  const { since, last, seenAt, resolvedAt } = finding;
  const { by, until, reason } = finding.acknowledged ?? {};
  return {
    ...{ account, policy, target, label, about, severity, message, state },
    since: isoTime(since),
    last_run: last,
    last_seen_at: isoTime(seenAt),
    resolved_at: isoTimeOrNull(resolvedAt),
    acknowledged_by: by ?? null,
    acknowledged_until: isoTimeOrNull(until),
    acknowledged_reason: reason ?? null,
  };
};

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
