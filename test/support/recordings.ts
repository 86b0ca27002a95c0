/** What was done and is not written to the sites yet, as workers leave it in the records. */
import type { Records } from '../../src/records/records.ts';
import type { Run, Target } from '../../src/run/run.ts';
import { aTarget } from './builders.ts';

/** The outbox of an account whose runs have just ended is due after this time. */
export const DUE_MS = 120_000;

/**
 * Stores a run that ended at a time, with a change on each of these sites: none is recorded yet. With `why`, the first
 * was tried once, and that is the error.
 */
export async function leaveUnrecorded(
  records: Records,
  run: Run,
  { sites, at, why }: { sites: readonly string[]; at: number; why?: string },
): Promise<void> {
  const { runs, plans, targets, outbox } = records;
  await runs.create(run, {
    concurrency: 100,
    targetMs: 60_000,
    record: { work: true, note: true, not: [] },
  });
  await runs.move(run, 'planning', { at });
  const planned = sites.map((site) => aTarget(site, { recordSite: site }));
  await plans.add(run.id, await plans.begin(run.id), planned);
  await runs.move(run, 'running', { at, planComplete: true });
  for (const dispatched of await targets.dispatch(run.id, at, sites.length)) {
    const claimed = await targets.claim(run, dispatched, at);
    if (!claimed) throw new Error(`Nobody else can have claimed ${dispatched.id}.`);
    const { fence, recordSite } = claimed.target;
    const done = { state: 'ended', outcome: 'succeeded', reason: 'done', changed: true } as const;
    const ended: Target = aTarget(dispatched.id, {
      ...done,
      fence,
      recordSite,
      startedAt: at,
      finishedAt: at,
    });
    await targets.move(run, ended, { from: ['acting'], at });
  }
  await runs.move(run, 'succeeded', { at });
  if (why === undefined) return;
  const claimed = await outbox.claim(run.account, at + DUE_MS, 1_000);
  if (claimed) await outbox.leave(claimed, [], { due: at + DUE_MS, waits: 1, detail: why });
}
