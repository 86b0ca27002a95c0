/** Runs in the records, as their planner leaves them. */
import type { Addition } from '../../src/records/plan-store.ts';
import type { Records } from '../../src/records/records.ts';
import type { RunLimits } from '../../src/records/run-scripts.ts';
import type { Run, Spread, Target } from '../../src/run/run.ts';
import { aRun } from '../support/builders.ts';

interface Begun extends Pick<Addition, 'groups'> {
  /** Fields of the run. */
  run?: Partial<Run>;
  limits?: Partial<RunLimits>;
  at?: number;
  /** From when its targets begin, and for how long. */
  spread?: Pick<Spread, 'from' | 'ms'>;
}

/** A run that is being planned, with these targets so far, and the fence of its planner. */
export async function planning(
  records: Records,
  targets: readonly Target[],
  { run: changes, limits, at = 2_000, groups }: Begun = {},
): Promise<{ run: Run; fence: number }> {
  const run = aRun(changes);
  await records.runs.create(run, { concurrency: 5, targetMs: 60_000, ...limits });
  await records.runs.move(run, 'planning', { at });
  const fence = await records.plans.begin(run.id);
  if (targets.length > 0) await records.plans.add(run.id, fence, targets, groups ? { groups } : {});
  return { run, fence };
}

/** A run that works on these targets: its plan is complete. */
export async function begun(
  records: Records,
  targets: readonly Target[],
  { spread, ...options }: Begun = {},
): Promise<Run> {
  const { run, fence } = await planning(records, targets, options);
  if (spread) await records.plans.order(run.id, fence, { spread, first: [] });
  await records.runs.move(run, 'running', { at: options.at ?? 2_000, planComplete: true, planFence: fence });
  return run;
}

/** The target of a run that it dispatches next, claimed by a worker. */
export async function claimed(records: Records, run: Run, at: number): Promise<Target> {
  const [dispatched] = await records.targets.dispatch(run.id, at, 1);
  const claim = dispatched && (await records.targets.claim(run, dispatched, at));
  if (!claim) throw new Error('Nobody else can have claimed it.');
  return claim.target;
}
