/** When a policy fires next: what command line, dashboard and JSON show, by the very calendar that fires. */
import type { Policy, Schedule } from '../policy/policy.ts';
import { blackoutOn, dueAt, nextMoments } from './calendar.ts';

/** A firing that is still to come, unless its policy is paused by then. */
export interface NextFiring {
  /** The moment that the schedule names; the run is named by it. */
  moment: number;
  /** When it fires: the moment and its jitter. */
  at: number;
}

const DAY_MS = 86_400_000;
const CLOSE_MS = 60_000;

/**
 * The next `count` firings after `now`, in their order; fewer when the schedule names no more, and none without one.
 *
 * A moment that has passed and whose jitter has not is among them, a moment in a blackout is not. Costs no request.
 */
export function nextFirings(
  { name, schedule }: Pick<Policy, 'name' | 'schedule'>,
  now: number,
  count: number,
): NextFiring[] {
  const firings: NextFiring[] = [];
  let from = now - (schedule?.jitterMs ?? 0) - 1;
  while (schedule && firings.length < count) {
    const [moment, following] = nextMoments(schedule, from, 2);
    if (moment === undefined) break;
    const blackout = blackoutOn(schedule, moment);
    if (blackout) {
      from = endOfBlackout(schedule, Math.max(moment, Date.parse(blackout.to) - DAY_MS));
      continue;
    }
    const at = dueAt(name, schedule, moment, following);
    if (at > now) firings.push({ moment, at });
    from = moment;
  }
  return firings;
}

/** A moment in the last minute of the blackout that `moment` is in. */
function endOfBlackout(schedule: Schedule, moment: number): number {
  let inside = moment;
  let outside = moment + DAY_MS;
  while (blackoutOn(schedule, outside)) {
    inside = outside;
    outside += DAY_MS;
  }
  while (outside - inside > CLOSE_MS) {
    const middle = (inside + outside) / 2;
    if (blackoutOn(schedule, middle)) inside = middle;
    else outside = middle;
  }
  return inside;
}
