/** When a policy fires next, for command line, dashboard and JSON; computed by the code that fires. */
import type { Policy } from '../policy/policy.ts';
import { blackoutOn, endOfBlackout } from './blackout.ts';
import { dueAt, nextScheduledTimes } from './cron-times.ts';

/** A future firing, unless its policy is paused by then. */
export interface NextFiring {
  /** The scheduled time; it is part of the run's id. */
  scheduledFor: number;
  /** When it fires: the scheduled time and its jitter. */
  at: number;
}

/**
 * The next `count` firings after `now`, in order; fewer when the schedule has no more, and none without a
 * schedule or while it is disabled (`schedule.enabled: false`).
 *
 * Includes a scheduled time that has passed when its jitter has not, and none in a blackout. Costs no
 * request.
 */
export function nextFirings(
  { name, schedule }: Pick<Policy, 'name' | 'schedule'>,
  now: number,
  count: number,
): NextFiring[] {
  const firings: NextFiring[] = [];
  let from = now - (schedule?.jitterMs ?? 0) - 1;
  if (!schedule || schedule.disabled) return firings;
  while (firings.length < count) {
    const [scheduledFor, following] = nextScheduledTimes(schedule, from, 2);
    if (scheduledFor === undefined) break;
    if (blackoutOn(schedule, scheduledFor)) {
      const end = endOfBlackout(schedule, scheduledFor);
      if (end === undefined) break;
      from = end - 1;
      continue;
    }
    const at = dueAt(name, schedule, scheduledFor, following);
    if (at > now) firings.push({ scheduledFor, at });
    from = scheduledFor;
  }
  return firings;
}
