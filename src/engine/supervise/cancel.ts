/**
 * Cancels a run: nothing new is started, work in flight continues to its end, and every target gets an
 * outcome.
 */
import { isFinal } from '../../run/moves.ts';
import type { Run } from '../../run/run.ts';
import { cancelling } from '../act/decide.ts';
import type { EngineDeps } from '../deps.ts';
import { concludeRun, dispatch, finishIfDone } from '../finish-run.ts';
import { endOpen } from './end-open.ts';
import { endUnstarted, expedite } from './end-unstarted.ts';

const PAGE = 200;

/**
 * Cancels a run that has not ended. With `tasks`, also cancels its tasks in the service where that is
 * possible. The mark is written first: if this process dies after that, the supervisor completes the
 * cancellation.
 */
export async function cancelRun(
  deps: EngineDeps,
  run: Run,
  detail: string,
  { tasks = true }: { tasks?: boolean } = {},
): Promise<void> {
  await deps.records.runs.end(run, 'cancelled', detail, { cancelTasks: tasks });
  await carryOutEnding(deps, { ...run, ending: 'cancelled', ...(tasks ? { cancelTasks: true } : {}) });
  await expedite(deps, run);
}

/** Carries out a run's `ending`. Safe to repeat; the supervisor repeats it until the run has ended. */
export async function carryOutEnding(deps: EngineDeps, run: Run): Promise<void> {
  const { records } = deps;
  if (!run.ending) return;
  if (!run.planComplete) {
    // The new fence keeps a planner from adding targets. An unfinished plan has no targets that need an
    // outcome.
    const planFence = await records.plans.begin(run.id);
    const status = run.ending === 'cancelled' ? 'cancelled' : 'stopped';
    if (planFence > 0) {
      await concludeRun(deps, run, status, { planFence });
      return;
    }
    // Its plan was completed meanwhile: targets may be in progress.
    const now = await records.runs.get(run.id);
    if (!now || isFinal(now.status)) return;
  }
  if (run.held) await endOpen(deps, run, ({ state, taskCancel }) => state !== 'following' && !taskCancel);
  else await endUnstarted(deps, run);
  if (run.cancelTasks && run.status !== 'blocked') await cancelTasks(deps, run);
  await finishIfDone(deps, run.id);
}

/**
 * Releases each target whose task the run started, so that a worker cancels the task. Adopted tasks continue.
 */
async function cancelTasks(deps: EngineDeps, run: Run): Promise<void> {
  const { records, clock } = deps;
  for (const target of await records.targets.inState(run.id, 'following', PAGE)) {
    const { watch, taskCancel } = target;
    if (!watch || watch.adopted || taskCancel || !deps.registry.watches.get(watch.kind)?.cancel) continue;
    const at = clock.now();
    await records.targets.move(run, cancelling(target), {
      from: ['following'],
      dueAt: at,
      at,
    });
  }
  await dispatch(deps, run.account);
}
