/** A finding as programs see it: the HTTP API, `--json` and CSV. */
import { z } from 'zod';
import { isoTime, isoTimeOrNull } from '../clock.ts';
import { findingStates, severities } from '../records/filter-values.ts';
import type { ListedFinding } from './findings.ts';

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
