/** The outcome of targets that people rejected. */
import type { Run } from '../../run/run.ts';
import { ended } from '../act/decide.ts';
import type { EngineDeps } from '../deps.ts';

/**
 * Ends the targets that a decision has rejected (`not-approved`). They were taken out of their batches with the
 * decision. Safe to repeat; the supervisor does, for a process that died after the decision.
 */
export async function endRejected({ records, clock }: EngineDeps, run: Run): Promise<void> {
  for await (const rejected of records.batches.rejected(run.id)) {
    const targets = await records.targets.many(run.id, [...rejected.keys()]);
    const ends = targets.map((target) => {
      const end = ended(target, 'cancelled', 'not-approved', rejected.get(target.id), clock.now());
      return records.targets.move(run, end, { from: ['pending'], at: clock.now() });
    });
    await Promise.all(ends);
  }
}
