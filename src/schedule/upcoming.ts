/** The firings that are still to come, those included that will be left out as things stand. */
import type { Policy } from '../policy/policy.ts';
import { dueAt, nextMoments } from './calendar.ts';
import { type Hindering, type Hindrance, hindranceOf } from './skip-cause.ts';

export interface Coming {
  /** The moment that the schedule names. */
  moment: number;
  /** When it fires: the moment and its jitter. */
  at: number;
  /** What keeps it from firing, as things stand. */
  hindrance?: Hindrance;
}

/** The firings due after `from` and not after `until`, in their order, at most `limit`. Costs no request. */
export function comingFirings(
  { name, schedule }: Pick<Policy, 'name' | 'schedule'>,
  state: Hindering,
  { from, until, limit }: { from: number; until: number; limit: number },
): Coming[] {
  if (!schedule) return [];
  const moments = nextMoments(schedule, from - schedule.jitterMs - 1, limit + 1);
  return moments
    .map((moment, index): Coming => {
      const at = dueAt(name, schedule, moment, moments[index + 1]);
      const hindrance = hindranceOf(schedule, state, { moment, dueAt: at });
      return { moment, at, ...(hindrance ? { hindrance } : {}) };
    })
    .filter(({ at }) => at > from && at <= until)
    .slice(0, limit);
}
