/** What a person is told of targets that wait for work which the service has forgotten. */
import { confirmAt } from '../../engine/follow/pace.ts';
import type { Target } from '../../run/run.ts';
import { countOf } from '../../text.ts';
import { timeOfDay } from './show-run.ts';

/** How many targets wait for lost work, and when it is looked for once more; nothing when none does. */
export function formatLostWork(targets: readonly Target[], now: number): string | undefined {
  const lost = targets.flatMap(({ lostAt }) => (lostAt === undefined ? [] : [lostAt]));
  if (lost.length === 0) return undefined;
  const again = confirmAt(Math.min(...lost));
  const when = again > now ? `from ${timeOfDay(again)} on` : 'now';
  const verb = lost.length === 1 ? 'waits' : 'wait';
  return `${countOf(lost.length, 'target')} ${verb} for work that the service knows nothing of any more. It is looked for once more ${when}; what is not found then ends as unknown-effect.`;
}
