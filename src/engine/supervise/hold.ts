/**
 * Holds the runs that had not ended in an older state of Redis, until a person releases them.
 *
 * It is not known what was done after that state was written: a target that it shows as not started may have
 * had its effect. So nothing new of such a run is started. Followed work continues to its end, as in any run.
 */
import { isoMinute } from '../../clock.ts';
import { isFinal } from '../../run/moves.ts';
import type { Held, Run } from '../../run/run.ts';
import type { EngineDeps } from '../deps.ts';

export const heldSince = ({ since }: Held): string =>
  `Redis was restored to its state of ${isoMinute(since)}, and it is not known what the run did after that`;

/**
 * Holds every run of every account that has not ended. Returns all of them, also those that another process
 * held first.
 */
export async function holdRuns(deps: Pick<EngineDeps, 'records' | 'log'>, held: Held): Promise<Run[]> {
  const { records, log } = deps;
  const found: Run[] = [];
  for (const account of await records.runs.activeAccounts()) {
    for (const run of await records.runs.active(account)) {
      if (isFinal(run.status)) continue;
      const detail = `The run is held: ${heldSince(held)}. "caretaker runs resume ${run.id}" continues it, which may change targets a second time; "caretaker runs cancel ${run.id}" ends it.`;
      if (await records.runs.hold(run, held, detail)) log.warn({ run: run.id }, detail);
      found.push(run);
    }
  }
  return found;
}
