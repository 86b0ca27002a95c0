/** Upcoming firings, including those that will be skipped by the present state. */
import type { Policy } from '../policy/policy.ts';
import { dueAt, nextScheduledTimes, timesMovedHere } from './cron-times.ts';
import { type SkipCause, type SkipFacts, skipCauseOf } from './skip-cause.ts';

export interface UpcomingFiring {
  /** The scheduled time that the schedule names. */
  scheduledFor: number;
  /** When it fires: the scheduled time and its jitter. */
  at: number;
  /** The times on days of blackout that were moved to this one (`on_blackout`). */
  movedFrom?: number[];
  /** What keeps it from firing in the present state. */
  skipCause?: SkipCause;
}

/** The firings due after `from` and not after `until`, in their order, at most `limit`. Costs no request. */
export function upcomingFirings(
  { name, schedule }: Pick<Policy, 'name' | 'schedule'>,
  state: SkipFacts,
  { from, until, limit }: { from: number; until: number; limit: number },
): UpcomingFiring[] {
  if (!schedule) return [];
  const times = nextScheduledTimes(schedule, from - schedule.jitterMs - 1, limit + 1, until);
  return times
    .map((scheduledFor, index): UpcomingFiring => {
      const at = dueAt(name, schedule, scheduledFor, times[index + 1]);
      const skipCause = skipCauseOf(schedule, state, { scheduledFor, dueAt: at });
      return { scheduledFor, at, ...(skipCause ? { skipCause } : {}) };
    })
    .filter(({ at }) => at > from && at <= until)
    .slice(0, limit)
    .map((firing) => {
      const movedFrom = timesMovedHere(schedule, firing.scheduledFor);
      return movedFrom.length > 0 ? { ...firing, movedFrom } : firing;
    });
}
