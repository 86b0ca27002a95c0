/**
 * Calling a run off: nothing new is begun, what is in flight comes to its end, every target gets an outcome.
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
 * Cancels a run that has not ended, and, with `tasks`, what it has started in the service and that can be
 * cancelled there. The mark comes first: whoever dies in between, the supervisor carries it out.
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

/** Does what follows from a run's `ending`, as often as it takes. */
export async function carryOutEnding(deps: EngineDeps, run: Run): Promise<void> {
  const { records } = deps;
  if (!run.ending) return;
  if (!run.planComplete) {
    // Whoever is planning it can add nothing any more, and an unfinished plan promises nothing.
    const planFence = await records.targets.beginPlan(run.id);
    const status = run.ending === 'cancelled' ? 'cancelled' : 'stopped';
    if (planFence > 0) {
      await concludeRun(deps, run, status, { planFence });
      return;
    }
    // Its plan was completed meanwhile: targets may be under way.
    const now = await records.runs.get(run.id);
    if (!now || isFinal(now.status)) return;
  }
  if (run.held) await endOpen(deps, run, ({ state, taskCancel }) => state !== 'following' && !taskCancel);
  else await endUnstarted(deps, run);
  if (run.cancelTasks && run.status !== 'blocked') await cancelTasks(deps, run);
  await finishIfDone(deps, run.id);
}

/**
 * Has a worker cancel each task that the run has started. One that somebody else had started is left to them.
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
