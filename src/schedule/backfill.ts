/** Which past scheduled times of a policy a backfill runs, and why not the others. */
import { isoTime } from '../clock.ts';
import { CaretakerError } from '../errors.ts';
import type { Policy, Schedule } from '../policy/policy.ts';
import type { ScheduledTime } from '../records/ledger-store.ts';
import type { Records } from '../records/records.ts';
import { isFinal } from '../run/moves.ts';
import type { Run } from '../run/run.ts';
import { scheduledTimesBetween } from './cron-times.ts';
import { blackoutOn, formatBlackout, formatSkipCause } from './skip-cause.ts';
import { type Span, wallTime } from './wall-time.ts';

export const reprocessings = ['none', 'failed', 'all'] as const;
/** Which scheduled times that had a run get another: none, those whose run did not succeed, or all. */
export type Reprocess = (typeof reprocessings)[number];

export interface BackfillTime {
  scheduledFor: number;
  fires: boolean;
  /** Why it fires or does not, in a few words. */
  because: string;
  /** The run whose end it is, of a policy that follows another. */
  afterRun?: string;
  /** Its number among the backfills of this scheduled time, from 1. */
  attempt: number;
}

/** The range cannot be backfilled. */
export class BackfillError extends CaretakerError {
  readonly code = 'BACKFILL';
}

/** The most runs that one backfill queues. */
const MAX_BACKFILL_TIMES = 500;

/**
 * Decides about each past scheduled time of the policy in the span, oldest first. Changes nothing.
 *
 * @throws {BackfillError} when the policy has no schedule, or the span names more than 500 scheduled times.
 */
export async function planBackfill(
  records: Pick<Records, 'ledger' | 'runs'> | undefined,
  { name, schedule }: Policy,
  { from, to }: Span,
  reprocess: Reprocess,
  now: number,
): Promise<BackfillTime[]> {
  if (!schedule)
    throw new BackfillError(`${name} has no schedule: there are no scheduled times to backfill.`);
  const stored = await (records?.ledger.between(name, from, to, 2 * MAX_BACKFILL_TIMES) ?? []);
  // The times of a policy that follows another are those that have a record.
  const times = schedule.after
    ? stored.map(({ scheduledFor }) => scheduledFor)
    : scheduledTimesBetween(schedule, from - 1, Math.min(to, now));
  if (times.length > MAX_BACKFILL_TIMES)
    throw new BackfillError(
      `${name} has more than ${MAX_BACKFILL_TIMES} scheduled times in that range. Backfill a shorter range at a time.`,
    );
  const known = new Map(stored.map((record) => [record.scheduledFor, record]));
  return Promise.all(
    times.map(async (scheduledFor) => {
      const record = known.get(scheduledFor);
      const id = latestRun(record);
      const run = id === undefined ? undefined : await records?.runs.get(id);
      return {
        scheduledFor,
        attempt: attemptAfter(record),
        ...(record?.after === undefined ? {} : { afterRun: record.after }),
        ...evaluate({ schedule, scheduledFor, record, id, run, reprocess }),
      };
    }),
  );
}

/** The times of a backfill as JSON: what `caretaker backfill` and `GET /api/v1/policies/{policy}/backfill` show. */
export const toBackfillReport = (
  { name, schedule }: Policy,
  times: readonly (BackfillTime & { run?: Run })[],
) => ({
  policy: name,
  timezone: schedule?.timezone ?? 'UTC',
  /** Whether its runs work at the same time. */
  overlap: schedule?.overlap === 'allow',
  scheduled_times: times.map(({ scheduledFor, fires, because, run }) => ({
    scheduled_for: isoTime(scheduledFor),
    wall_time: wallTime(scheduledFor, schedule?.timezone ?? 'UTC'),
    fires,
    because,
    run: run?.id ?? null,
    status: run?.status ?? null,
  })),
});
export type BackfillReport = ReturnType<typeof toBackfillReport>;

/** The policy for its backfills: they run one after the other, unless its runs may overlap. */
export const queued = (policy: Policy): Policy =>
  policy.schedule && policy.schedule.overlap !== 'allow'
    ? { ...policy, schedule: { ...policy.schedule, overlap: 'queue-all' } }
    : policy;

/** The latest run of a scheduled time; a run that was only recorded as skipped does not count. */
const latestRun = (record: ScheduledTime | undefined): string | undefined =>
  record?.backfill ?? (record?.is === 'ran' ? record.run : undefined);

function attemptAfter(record: ScheduledTime | undefined): number {
  const before = /-backfill(\d*)$/.exec(latestRun(record) ?? '');
  return before ? Number(before[1] || 1) + 1 : 1;
}

interface Known {
  schedule: Schedule;
  scheduledFor: number;
  record: ScheduledTime | undefined;
  id: string | undefined;
  run: Run | undefined;
  reprocess: Reprocess;
}

function evaluate({
  schedule,
  scheduledFor,
  record,
  id,
  run,
  reprocess,
}: Known): Pick<BackfillTime, 'fires' | 'because'> {
  const blackout = blackoutOn(schedule, scheduledFor);
  if (blackout) return { fires: false, because: `blackout: ${formatBlackout(blackout)}` };
  if (id === undefined) return { fires: true, because: record ? formatRecord(record) : 'it has no record' };
  if (run && !isFinal(run.status)) return { fires: false, because: `${id} is ${run.status}` };
  const because = run ? `${id} ${run.status}` : `${id}, which is no longer stored`;
  const failed = run !== undefined && run.status !== 'succeeded';
  return { fires: reprocess === 'all' || (reprocess === 'failed' && failed), because };
}

function formatRecord({ is, why, note }: ScheduledTime): string {
  if (is === 'merged') return 'missed, and caught up by the run of a later time';
  if (is !== 'skipped' || why === undefined) return 'missed';
  return `skipped: ${why === 'overlap' ? 'overlap' : formatSkipCause({ why, ...(note === undefined ? {} : { note }) })}`;
}
