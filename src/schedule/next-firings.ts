/** When a policy fires next, for command line, dashboard and JSON; computed by the code that fires. */

import { HOUR_MS } from '../dates.ts';
import type { Policy } from '../policy/policy.ts';
import { dueAt, nextScheduledTimes } from './cron-times.ts';
import { blackoutOn, endOfBlackout } from './skip-cause.ts';

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
 * request. With `until`, several firings end with the last one whose scheduled time is not after it.
 */
export function nextFirings(
  policy: Pick<Policy, 'name' | 'schedule'>,
  now: number,
  count: number,
  until = Number.POSITIVE_INFINITY,
): NextFiring[] {
  const { name, schedule } = policy;
  if (!schedule) return [];
  const found = kept.get(schedule);
  if (found?.name === name && found.from <= now) {
    const ahead = found.firings.filter(({ at, scheduledFor }) => at > now && scheduledFor <= until);
    if (ahead.length >= count) return ahead.slice(0, count);
    if (until <= found.to) return ahead;
  }
  // Somewhat further, because a page that is shown again asks for the same span, a little later.
  const firings = computed(policy, now, count, until + HOUR_MS);
  const to = firings.length < count ? until + HOUR_MS : (firings.at(-1)?.scheduledFor ?? now);
  kept.set(schedule, { name, from: now, firings, to });
  return firings.filter(({ scheduledFor }) => scheduledFor <= until);
}

interface Kept {
  name: string;
  from: number;
  /** All after `from` whose scheduled time is not after `to`. */
  firings: readonly NextFiring[];
  to: number;
}

/**
 * The firings of each schedule that were computed last: they stay the same until they have come. Every page asks for
 * those of every policy, and computing one takes up to a millisecond.
 */
const kept = new WeakMap<object, Kept>();

function computed(
  { name, schedule }: Pick<Policy, 'name' | 'schedule'>,
  now: number,
  count: number,
  until: number,
): NextFiring[] {
  const firings: NextFiring[] = [];
  let from = now - (schedule?.jitterMs ?? 0) - 1;
  if (!schedule || schedule.disabled) return firings;
  while (firings.length < count) {
    const [scheduledFor, following] = nextScheduledTimes(schedule, from, 2);
    if (scheduledFor === undefined || scheduledFor > until) break;
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
