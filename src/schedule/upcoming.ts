/** The firings that are still to come, those included that will be left out as things stand. */
import type { Policy } from '../policy/policy.ts';
import { dueAt, nextScheduledTimes } from './calendar.ts';
import { type SkipCause, type SkipFacts, skipCauseOf } from './skip-cause.ts';

export interface UpcomingFiring {
  /** The scheduled time that the schedule names. */
  moment: number;
  /** When it fires: the scheduled time and its jitter. */
  at: number;
  /** What keeps it from firing, as things stand. */
  skipCause?: SkipCause;
}

/** The firings due after `from` and not after `until`, in their order, at most `limit`. Costs no request. */
export function upcomingFirings(
  { name, schedule }: Pick<Policy, 'name' | 'schedule'>,
  state: SkipFacts,
  { from, until, limit }: { from: number; until: number; limit: number },
): UpcomingFiring[] {
  if (!schedule) return [];
  const moments = nextScheduledTimes(schedule, from - schedule.jitterMs - 1, limit + 1);
  return moments
    .map((moment, index): UpcomingFiring => {
      const at = dueAt(name, schedule, moment, moments[index + 1]);
      const skipCause = skipCauseOf(schedule, state, { moment, dueAt: at });
      return { moment, at, ...(skipCause ? { skipCause } : {}) };
    })
    .filter(({ at }) => at > from && at <= until)
    .slice(0, limit);
}
