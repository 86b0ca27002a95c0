/** Reads what a policy that follows another has to know about the ends of the other's runs. */
import type { RunEnd } from '../records/end-store.ts';
import type { Records } from '../records/records.ts';
import type { Run, RunStatus } from '../run/run.ts';
import type { PredecessorEnd } from './chain.ts';

/** A retry of a retry, and so on: more are not looked through. */
const MAX_RETRIES = 50;

/** The ends with their runs, in the same order; without those whose run is no longer stored. */
export async function predecessorEnds(
  { runs }: Pick<Records, 'runs'>,
  ends: readonly RunEnd[],
): Promise<PredecessorEnd[]> {
  const found = await Promise.all(
    ends.map(async ({ run: id, at }) => {
      const run = await runs.get(id);
      if (!run) return undefined;
      const { status, trigger } = run;
      const [onlySome, retried] = await Promise.all([
        trigger === 'manual' ? runs.only(id).then((only) => only.length > 0) : false,
        retriedBy(runs, run),
      ]);
      return { at, run: id, status, trigger, onlySome, retried };
    }),
  );
  return found.flatMap((end) => end ?? []);
}

/** How the runs ended that a run retries. */
async function retriedBy(runs: Records['runs'], run: Run): Promise<RunStatus[]> {
  const statuses: RunStatus[] = [];
  let { retryOf } = run;
  while (retryOf !== undefined && statuses.length < MAX_RETRIES) {
    const earlier = await runs.get(retryOf);
    if (!earlier) break;
    // A backfill starts nothing, however it ends.
    if (earlier.trigger !== 'backfill') statuses.push(earlier.status);
    retryOf = earlier.retryOf;
  }
  return statuses;
}
