/** What a supervisor does for one run, once a second: it goes on, or it ends. */
import type { Held, Run, Target } from '../../run/run.ts';
import { inDoubt, timedOut } from '../act/decide.ts';
import { type EngineDeps, policyOf } from '../deps.ts';
import { afterTargets, concludeRun, finishIfDone, stopIfTooManyFailed } from '../finish-run.ts';
import { turnOf } from '../fire.ts';
import type { Follower } from '../follow/follow.ts';
import { carryOutEnding } from './cancel.ts';
import { endOpen } from './end-open.ts';
import { endPending } from './end-unstarted.ts';
import { heldSince } from './hold.ts';

/**
 * What a supervisor knows of an account besides the records; a successor starts without it and loses nothing.
 */
export interface AccountState {
  follower: Follower;
  /** Whether it has been looked after before: at the first time, what is under way was begun elsewhere. */
  known?: true;
  probedAt: number | undefined;
  /** When the window of the budget ends, as far as is known. */
  windowEndsAt?: number | undefined;
  /** Runs that wait for their plan: since when, and when it was last put into the queue. */
  replans: Map<string, { firstAt: number; lastAt: number }>;
}

/** A plan that is not there after so long is put into the queue (again). */
const REPLAN_AFTER_MS = 10_000;
/**
 * A run that nobody has begun to plan in so long, whose job is not known here either, fails: no newer process
 * turned up.
 */
const MISSING_JOB_TIMEOUT_MS = 5 * 60_000;
/**
 * A handed-out target that nobody claimed is put into the queue again; one whose worker went away is handed
 * out again.
 */
const UNCLAIMED_TIMEOUT_MS = 10_000;
const CLAIMED_TIMEOUT_MS = 20_000;
/** So long after its deadline, followed work is called late although no sweep could look at it since. */
const UNSEEN_TIMEOUT_MS = 5 * 60_000;
const PAGE = 200;
const OVER = 'The time limit of the run passed (timeout.run).';

/** Looks after a run; `active` are all runs of its account that have not ended. */
export async function maintainRun(
  deps: EngineDeps,
  run: Run,
  active: readonly Run[],
  charge: AccountState,
): Promise<void> {
  const now = deps.clock.now();
  if (run.ending) await carryOutEnding(deps, run);
  if (run.ending && !run.planComplete) return;
  if (run.deadline !== undefined && now > run.deadline) return callTime(deps, run, charge);
  if (run.held && !run.ending) return maintainHeld(deps, run, run.held);
  if (run.status === 'queued' || run.status === 'planning') return replan(deps, run, active, charge);
  charge.replans.delete(run.id);
  if (run.status === 'blocked') {
    if (run.ending) await endBlocked(deps, run);
    return;
  }
  await endLate(deps, run, charge);
  await stopIfTooManyFailed(deps, run.id);
  await rescue(deps, run);
  await finishIfDone(deps, run.id);
}

/**
 * A run that is held waits for a person: nothing of it is begun, and what is followed may come to its end. It
 * has its time limit too.
 */
async function maintainHeld(deps: EngineDeps, run: Run, held: Held): Promise<void> {
  if (run.planComplete) return finishIfDone(deps, run.id);
  if (deps.clock.now() <= held.at + policyOf(run).timeout.runMs) return;
  await concludeRun(deps, run, 'failed', { detail: `${OVER} It was held (${heldSince(held)}).` });
}

/**
 * Puts the plan into the queue: for a run whose turn has come, or whose planner died or found the service
 * away.
 */
async function replan(
  deps: EngineDeps,
  run: Run,
  active: readonly Run[],
  charge: AccountState,
): Promise<void> {
  if (turnOf(run, active, policyOf(run)) === 'wait') return;
  const now = deps.clock.now();
  const { firstAt, lastAt } = charge.replans.get(run.id) ?? {
    firstAt: now,
    lastAt: run.status === 'queued' ? 0 : now,
  };
  charge.replans.set(run.id, { firstAt, lastAt });
  // Whoever began to plan it knew its job, and may only have found the service away.
  const unknown = run.status === 'queued' && !deps.registry.get(run.job);
  if (unknown && now - firstAt > MISSING_JOB_TIMEOUT_MS) {
    await concludeRun(deps, run, 'failed', { detail: `There is no job "${run.job}" here any more.` });
    return;
  }
  if (now - lastAt < REPLAN_AFTER_MS) return;
  charge.replans.set(run.id, { firstAt, lastAt: now });
  await deps.queues.put([{ kind: 'plan', run: run.id }]);
}

/** The run's time is up: everything gets its outcome now. */
async function callTime(deps: EngineDeps, run: Run, charge: AccountState): Promise<void> {
  const { records, clock } = deps;
  const detail = OVER;
  if (!run.planComplete) {
    const last = run.detail === undefined ? '' : ` It could not be planned: ${run.detail}`;
    await concludeRun(deps, run, 'failed', { detail: `${detail}${last}` });
    return;
  }
  const { held } = run;
  const late = (target: Target, at: number) =>
    held && target.state !== 'following' ? inDoubt(target, held, at) : timedOut(target, at);
  await endPending(deps, run, (target) =>
    held ? late(target, clock.now()) : { ...timedOut(target, clock.now()), detail },
  );
  for (const state of ['acting', 'following', 'waiting'] as const) {
    for (const target of await records.targets.inState(run.id, state, PAGE)) {
      if (mayHaveEnded(deps, target, run.deadline ?? 0, charge)) continue;
      const at = clock.now();
      await records.targets.move(run, late(target, at), { from: [state], at });
    }
  }
  await finishIfDone(deps, run.id);
}

async function endLate(deps: EngineDeps, run: Run, charge: AccountState): Promise<void> {
  const { records, clock } = deps;
  for (const target of await records.targets.late(run.id, clock.now(), PAGE)) {
    if (mayHaveEnded(deps, target, target.deadline ?? 0, charge)) continue;
    const at = clock.now();
    const end = timedOut(target, at);
    if (await records.targets.move(run, end, { from: [target.state], at })) {
      await afterTargets(deps, run.account, [{ run, target: end }]);
    }
  }
}

/** Followed work that no sweep has looked at since its deadline may long have ended well. */
function mayHaveEnded(
  { clock }: EngineDeps,
  target: Target,
  deadline: number,
  { follower }: AccountState,
): boolean {
  if (target.state !== 'following' || !target.watch) return false;
  return follower.sweptAt(target.watch.kind) < deadline && clock.now() < deadline + UNSEEN_TIMEOUT_MS;
}

/**
 * A run that was cancelled while the account refuses us: what is in flight cannot be followed to its end. A
 * worker that is still there has its answer soon; one that is not will never give its target back, since
 * nothing is handed out.
 */
async function endBlocked(deps: EngineDeps, run: Run): Promise<void> {
  const silent = deps.clock.now() - CLAIMED_TIMEOUT_MS;
  const working = await deps.records.targets.inState(run.id, 'acting', PAGE, silent);
  const gone = new Set(working.map(({ id }) => id));
  await endOpen(deps, run, ({ id, state, claimed }) => state !== 'acting' || !claimed || gone.has(id));
  await finishIfDone(deps, run.id);
}

/** Picks up what was handed out and then lost, by a queue that forgot or a worker that died. */
async function rescue(deps: EngineDeps, run: Run): Promise<void> {
  const { records, queues, clock, log } = deps;
  const now = clock.now();
  const stale = await records.targets.inState(run.id, 'acting', PAGE, now - UNCLAIMED_TIMEOUT_MS);
  if (stale.length === 0) return;
  const unclaimed = stale.filter(({ claimed }) => !claimed);
  await queues.put(unclaimed.map(({ id, fence }) => ({ kind: 'act', run: run.id, target: id, fence })));
  const silent = await records.targets.inState(run.id, 'acting', PAGE, now - CLAIMED_TIMEOUT_MS);
  for (const target of silent.filter(({ claimed }) => claimed)) {
    const { claimed: _lost, ...rest } = target;
    const due = { ...rest, state: 'waiting' as const };
    if (await records.targets.move(run, due, { from: ['acting'], dueAt: now, at: now })) {
      log.warn({ run: run.id, target: target.id }, 'picked up from a worker that went away');
    }
  }
}
