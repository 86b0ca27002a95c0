/**
 * Cancels a run: nothing new is started, work in flight continues to its end, and every target gets an
 * outcome.
 */
import { isoMinute } from '../../clock.ts';
import { isFinal } from '../../run/moves.ts';
import type { Held, Run, Target, TargetIn, Watch } from '../../run/run.ts';
import { cancelled, cancelling, ended } from '../act/decide.ts';
import type { EngineDeps } from '../deps.ts';
import { concludeRun, dispatch, finishIfDone } from '../finish-run.ts';
import { endPending, endUnstarted, expedite } from './end-unstarted.ts';

// The ends of targets whose time has passed. Pure functions.

/** The detail of a target whose followed work had not ended at its time limit. */
export const stillUnderWay = ({ label = 'The work in the service' }: Watch): string =>
  `${label} was still under way.`;

/** The detail of a target when nothing showed at its time limit whether its followed work had ended. */
export const notShown = ({ label = 'The work in the service' }: Watch): string =>
  `${label} did not show whether it had ended.`;

/**
 * A target whose time limit passed. With an intent that has no result, it is unknown whether the effect
 * happened. `isRunning`: the last look has shown that its followed work was under way.
 */
export function timedOut(target: Target, now: number, isRunning = false): TargetIn<'ended'> {
  if (target.intent) {
    const { operation, answered } = target.intent;
    const lost =
      answered === undefined
        ? `The answer to ${operation} was lost.`
        : `The service answered ${operation} with HTTP ${answered}, which does not show whether it was done.`;
    const detail = target.detail === undefined ? lost : `${lost} ${target.detail}`;
    return ended(target, 'failed', 'unknown-effect', detail, now);
  }
  // This also holds while it is being retried: any request sent since would have left an intent.
  if (target.reason === 'conflict') {
    return ended(target, 'failed', 'conflict', target.detail, now);
  }
  const { state, watch } = target;
  const isFollowed = state === 'following' && watch !== undefined;
  // The detail of followed work, if any, says that the service no longer knows the work.
  const detail = target.detail ?? (isFollowed ? (isRunning ? stillUnderWay : notShown)(watch) : undefined);
  return ended(target, 'failed', isFollowed && !isRunning ? 'unconfirmed' : 'timeout', detail, now);
}

/**
 * A target that ends while its run is held. It is unknown what was done to it after the state that Redis was
 * restored to.
 */
export const unknownAfterRollback = (target: Target, { since }: Held, now: number): TargetIn<'ended'> =>
  ended(
    target,
    'failed',
    'unknown-effect',
    `Redis was restored to its state of ${isoMinute(since)}: it is not known whether the target was changed after that.`,
    now,
  );

// Gives every open target of a run an outcome at once, without waiting for work in progress.

const OPEN_AT_ONCE = 200;
/** A target that changed between reading and writing is read again. This many times cannot be chance. */
const MAX_TRIES = 100;

/** Gives an outcome to every open target for which `which` is true. */
export async function endOpen(deps: EngineDeps, run: Run, which: (target: Target) => boolean): Promise<void> {
  const { records, clock } = deps;
  await endPending(deps, run, (target) => endedNow(run, target, clock.now()));
  for (let tries = 0; tries < MAX_TRIES; tries += 1) {
    const states = ['acting', 'following', 'waiting'] as const;
    const pages = await Promise.all(
      states.map((state) => records.targets.inState(run.id, state, OPEN_AT_ONCE)),
    );
    const open = pages.flat().filter(which);
    if (open.length === 0) return;
    const at = clock.now();
    await Promise.all(
      open.map((target) =>
        records.targets.move(run, endedNow(run, target, at), { from: [target.state], at }),
      ),
    );
  }
}

/**
 * The end of a target of a cancelled run. A target whose effect may have happened is not recorded as
 * cancelled.
 */
function endedNow(
  { ending = 'cancelled', held }: Pick<Run, 'ending' | 'held'>,
  target: Target,
  now: number,
): TargetIn<'ended'> {
  // Followed work is known to have started, so its effect is not in doubt.
  if (held && target.state !== 'following') return unknownAfterRollback(target, held, now);
  if (target.intent) {
    const detail = `The run was ended before the answer to ${target.intent.operation} was known.`;
    return ended(target, 'failed', 'unknown-effect', detail, now);
  }
  const end = cancelled(target, ending, now);
  if (target.state !== 'following') return end;
  const lost = target.lostAt === undefined ? undefined : target.detail;
  return { ...end, detail: lost ?? 'It was still under way in the service.' };
}

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

// Ends a run at once: every open target gets the outcome that is known now.

/**
 * Ends a run at once, also while workers act on it. Each open target gets its outcome, and after that no
 * worker can send or write anything for it. Work in the service continues there and is not followed.
 */
export async function forceEndRun(deps: EngineDeps, run: Run, detail: string): Promise<void> {
  await deps.records.runs.end(run, 'cancelled', detail);
  const cancelled = (await deps.records.runs.get(run.id)) ?? run;
  await carryOutEnding(deps, cancelled);
  await endOpen(deps, cancelled, () => true);
  await finishIfDone(deps, run.id);
  await deps.queues.drop(run.id);
}
