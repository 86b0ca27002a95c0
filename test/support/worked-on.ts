/** Runs that have worked on targets, recorded as the engine records them. */
import type { Effect } from '../../src/records/effect-store.ts';
import type { Records } from '../../src/records/records.ts';
import type { Run, Target, TargetIn } from '../../src/run/run.ts';
import { aTarget } from './builders.ts';

/** Stores a run with its plan; each target is started and ends. The run itself goes on. */
export async function workedOn(
  records: Records,
  run: Run,
  targets: readonly TargetIn<'ended'>[],
  {
    at = run.createdAt,
    effectsOf = () => [],
  }: { at?: number; effectsOf?: (target: Target) => Effect[] } = {},
): Promise<void> {
  await records.runs.create(run, { concurrency: 10, targetMs: 60_000 });
  await records.runs.move(run, 'planning', { at });
  const planned = targets.map(({ id, label }) => aTarget(id, { label }));
  await records.plans.add(run.id, await records.plans.begin(run.id), planned);
  await records.runs.move(run, 'running', { at, planComplete: true });
  await Promise.all(
    targets.map((target) =>
      records.targets.move(
        run,
        { ...target, fence: 0 },
        { from: ['pending'], effects: effectsOf(target), at },
      ),
    ),
  );
}
