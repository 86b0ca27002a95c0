/** The form of answers to programs, from which the OpenAPI document is made. */
import { z } from 'zod';
import { isoTime } from '../clock.ts';
import type { Freeze } from '../records/freeze-store.ts';
import { toSummary } from '../run/report.ts';
import { outcomes, type Run, runStatuses, triggers } from '../run/run.ts';
import { formatDuration } from '../yaml/duration.ts';

const time = z.iso.datetime();

/** A run without its targets: the object of `runs --json`. Fields that have their own pages are open here. */
export const RunAnswer = z
  .looseObject({
    run: z.string().describe('The id of the run.'),
    policy: z.string(),
    job: z.string(),
    account: z.string(),
    status: z.enum(runStatuses),
    detail: z.string().optional().describe('Why it is blocked, was skipped, was stopped or failed.'),
    trigger: z.enum(triggers),
    started_by: z.object({ kind: z.string(), name: z.string() }).optional(),
    scheduled_for: time,
    created_at: time,
    started_at: time.nullable(),
    finished_at: time.nullable(),
    plan_complete: z.boolean(),
    requests: z.int(),
    requests_by_operation: z.record(z.string(), z.int()),
    counts: z.object({
      planned: z.int(),
      succeeded: z.int(),
      failed: z.int(),
      skipped: z.int(),
      cancelled: z.int(),
      found: z.int().optional(),
    }),
  })
  .meta({ id: 'Run' });

/** A target of a run: an entry of `targets` in `runs show --json`. Fields that have their own pages are open here. */
export const TargetAnswer = z
  .looseObject({
    id: z.string(),
    label: z.string(),
    outcome: z.enum(outcomes).nullable(),
    reason: z.string().nullable(),
    detail: z.string().nullable(),
    requests: z
      .array(
        z.object({
          operation: z.string(),
          at: z.string(),
          ms: z.number().describe('From sending the request to the begin of its answer.'),
          status: z.int().nullable().describe('The HTTP status; null when no answer came.'),
          request_id: z.string().nullable().describe('The id that the service gave the request.'),
          error: z.object({ code: z.string().nullable(), message: z.string().nullable() }).nullable(),
        }),
      )
      .optional()
      .describe('The first and the last requests that were sent for the target alone.'),
    more_requests: z.int().optional().describe('How many more were sent between them.'),
  })
  .meta({ id: 'Target' });

/** The end of the answer of a list. */
export const NextPage = {
  next: z
    .string()
    .nullable()
    .describe('The `after` of the next page; null at the end. The header Link has its address.'),
};

export const OneRun = z.object({ run: RunAnswer });
export const oneRun = (run: Run) => ({ run: toSummary(run) });

export const Nothing = z.object({});

export const FreezeAnswer = z
  .object({
    id: z.string().nullable().describe('Missing for the freeze of everything.'),
    account: z.string().nullable(),
    policy: z.string().nullable(),
    job: z.string().nullable(),
    client: z.string().nullable(),
    tag: z.string().nullable(),
    by: z.string(),
    since: z.iso.datetime(),
    until: z.iso.datetime(),
    reason: z.string().nullable(),
    rule: z
      .object({ id: z.string(), cron: z.array(z.string()), timezone: z.string(), for: z.string() })
      .nullable()
      .describe('Of one that recurs: when it begins each time, and for how long. Its id ends it for good.'),
  })
  .meta({ id: 'Freeze' });

export type FreezeAnswer = z.output<typeof FreezeAnswer>;

/** A freeze as programs see it. */
export const freezeAnswer = ({
  id,
  scope = {},
  by,
  at,
  until,
  reason,
  rule,
}: Freeze): z.output<typeof FreezeAnswer> => ({
  id: id ?? null,
  account: scope.account ?? null,
  policy: scope.policy ?? null,
  job: scope.job ?? null,
  client: scope.client ?? null,
  tag: scope.tag ?? null,
  by,
  since: isoTime(at),
  until: isoTime(until),
  reason: reason ?? null,
  rule: rule
    ? { id: rule.id, cron: rule.cron, timezone: rule.timezone, for: formatDuration(rule.forMs) }
    : null,
});
