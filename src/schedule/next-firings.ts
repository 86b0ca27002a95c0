/** When a policy fires next: what command line, dashboard and JSON show, by the very calendar that fires. */
import type { Policy } from '../policy/policy.ts';
import { blackoutOn, dueAt, endOfBlackout, nextScheduledTimes } from './calendar.ts';

/** A firing that is still to come, unless its policy is paused by then. */
export interface NextFiring {
  /** The scheduled time that the schedule names; the run is named by it. */
  moment: number;
  /** When it fires: the scheduled time and its jitter. */
  at: number;
}

/**
 * The next `count` firings after `now`, in their order; fewer when the schedule names no more, and none
 * without one or while it is disabled (`schedule.enabled: false`).
 *
 * A scheduled time that has passed and whose jitter has not is among them, a scheduled time in a blackout is
 * not. Costs no request.
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
    const [moment, following] = nextScheduledTimes(schedule, from, 2);
    if (moment === undefined) break;
    if (blackoutOn(schedule, moment)) {
      const end = endOfBlackout(schedule, moment);
      if (end === undefined) break;
      from = end - 1;
      continue;
    }
    const at = dueAt(name, schedule, moment, following);
    if (at > now) firings.push({ moment, at });
    from = moment;
  }
  return firings;
}
