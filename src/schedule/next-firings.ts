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
 * request. With `until`, several firings end with the last one whose scheduled time is not after it.
 */
export function nextFirings(
  policy: Pick<Policy, 'name' | 'schedule'>,
  now: number,
  count: number,
  until = Number.POSITIVE_INFINITY,
): NextFiring[] {
  const { name, schedule } = policy;
  if (count !== 1 || !schedule) return computed(policy, now, count, until);
  const known = firsts.get(schedule);
  if (known?.name === name && known.from <= now && (known.first === undefined || now < known.first.at))
    return known.first ? [known.first] : [];
  const [first] = computed(policy, now, 1, Number.POSITIVE_INFINITY);
  firsts.set(schedule, { name, from: now, first });
  return first ? [first] : [];
}

/**
 * The first firing after a time, of each schedule: it stays the first until it has come. Every page asks for it, of
 * every policy, and computing it takes up to a millisecond.
 */
const firsts = new WeakMap<object, { name: string; from: number; first: NextFiring | undefined }>();

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
