/** The form of answers to programs, from which the OpenAPI document is made. */
import { z } from 'zod';
import { toSummary } from '../run/report.ts';
import { type Run, runStatuses, triggers } from '../run/run.ts';

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

export const OneRun = z.object({ run: RunAnswer });
export const oneRun = (run: Run) => ({ run: toSummary(run) });

export const Nothing = z.object({});
