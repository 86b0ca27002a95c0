/**
 * Holding what was under way in an older state of Redis, until a person releases it.
 *
 * What was done after that state was written is not known any more: a target that it shows as not begun may
 * have had its effect. So nothing more of such a run is begun. What the service still works on is followed to
 * its end, as in any run.
 */
import { isoMinute } from '../../clock.ts';
import { isFinal } from '../../run/moves.ts';
import type { Held, Run } from '../../run/run.ts';
import type { EngineDeps } from '../deps.ts';

export const heldSince = ({ since }: Held): string =>
  `Redis was put back to its state of ${isoMinute(since)}, and what the run did after that is not known`;

/** Holds every run that has not ended, of every account; gives all of them, whichever process came first. */
export async function holdRuns(deps: Pick<EngineDeps, 'records' | 'log'>, held: Held): Promise<Run[]> {
  const { records, log } = deps;
  const found: Run[] = [];
  for (const account of await records.runs.activeAccounts()) {
    for (const run of await records.runs.active(account)) {
      if (isFinal(run.status)) continue;
      const detail = `The run is held: ${heldSince(held)}. "caretaker runs release ${run.id}" continues it, which may change targets a second time; "caretaker runs cancel ${run.id}" ends it.`;
      if (await records.runs.hold(run, held, detail)) log.warn({ run: run.id }, detail);
      found.push(run);
    }
  }
  return found;
}
