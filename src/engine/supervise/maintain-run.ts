/** What a supervisor does for one run, once a second: it continues the run or ends it. */
import { isoMinute } from '../../clock.ts';
import { jobOf } from '../../policy/policy-job.ts';
import { isFinal } from '../../run/moves.ts';
import type { Held, Run, Target } from '../../run/run.ts';
import { checkDeadline, isWindowOver } from '../deadline.ts';
import { type EngineDeps, policyOf } from '../deps.ts';
import { namingStep } from '../explain-end.ts';
import {
  afterTargets,
  concludeRun,
  entriesOf,
  finishIfDone,
  hasTooManyFailed,
  isDone,
  stopIfTooManyFailed,
} from '../finish-run.ts';
import { decideOverlap } from '../fire.ts';
import type { Follower } from '../follow/follow.ts';
import { endsOf, lastLook, MAX_LAST_LOOKS, UNSEEN_TIMEOUT_MS } from '../follow/followed.ts';
import { advance } from '../rollout/advance.ts';
import { maintainApproval } from '../rollout/approval.ts';
import type { Gates } from '../rollout/gates.ts';
import { heldSince } from './continuity.ts';
import { carryOutEnding, endOpen, timedOut, unknownAfterRollback } from './end-run.ts';
import { endPending, endRejected } from './end-unstarted.ts';

/**
 * What a supervisor knows about an account outside the records. A successor starts without it and loses
 * nothing.
 */
export interface AccountState {
  follower: Follower;
  gates: Gates;
  /** Set after the first round. In the first round, the active runs were started by another process. */
  maintained?: true;
  /** When its last round began. */
  maintainedAt?: number;
  probedAt: number | undefined;
  /** When the window of the budget ends, if known. */
  windowEndsAt?: number | undefined;
  /** When the end of each run with a deadline was predicted last. */
  predictedAt: Map<string, number>;
  /** Runs that wait for their plan: since when, and when an entry for the plan was last queued. */
  replans: Map<string, { firstAt: number; lastAt: number }>;
}

/** After this time without a plan, an entry for it is queued (again). */
const REPLAN_AFTER_MS = 10_000;
/**
 * A run whose planning has not started after this time, and whose job this process does not know, fails: no
 * newer process that knows the job is running.
 */
const MISSING_JOB_TIMEOUT_MS = 5 * 60_000;
/**
 * After the first time, a released target without a claim is queued again. After the second, a claimed target
 * whose worker stopped renewing is released again.
 */
const UNCLAIMED_TIMEOUT_MS = 10_000;
const CLAIMED_TIMEOUT_MS = 20_000;
const PAGE = 200;
const TIME_LIMIT_PASSED = 'The time limit of the run passed (timeout.run).';

/** Maintains a run. `active`: all runs of its account that have not ended. */
export async function maintainRun(
  deps: EngineDeps,
  run: Run,
  active: readonly Run[],
  accountState: AccountState,
): Promise<void> {
  const now = deps.clock.now();
  await checkDeadline(deps, run, active, accountState.predictedAt);
  if (run.rollout) await endRejected(deps, run);
  if (!run.ending && isWindowOver(run, now)) return endWindow(deps, run);
  if (run.ending) await carryOutEnding(deps, run);
  if (run.ending && !run.planComplete) return;
  if (run.status === 'awaiting-approval') return maintainApproval(deps, run);
  if (run.deadline !== undefined && now > run.deadline)
    return endAfterDeadline(deps, run.id, now, accountState);
  if (run.held && !run.ending) return maintainHeld(deps, run, run.held);
  if (run.status === 'queued' || run.status === 'planning') return replan(deps, run, active, accountState);
  accountState.replans.delete(run.id);
  if (run.status === 'blocked') {
    if (run.ending) await endBlocked(deps, run);
    return;
  }
  await endLate(deps, run, accountState);
  // Each reads the run again. What changed since this one was read is seen in the next round; but no batch of a rollout
  // begins after too many failures.
  if (run.rollout || hasTooManyFailed(run)) await stopIfTooManyFailed(deps, run.id);
  await recoverLost(deps, run);
  if (isDone(run)) await finishIfDone(deps, run.id);
  if (run.rollout) await advance(deps, run.id, accountState.gates);
}

/** The window of the run is over: nothing new begins, and what is in flight is followed to its end. */
async function endWindow(deps: EngineDeps, run: Run): Promise<void> {
  const left = run.planComplete ? '' : ' It had not been planned.';
  const detail = `Its window ended at ${isoMinute(run.windowEndsAt ?? 0)} (window.until).${left}`;
  await deps.records.runs.end(run, 'window-over', detail);
  await carryOutEnding(deps, { ...run, ending: 'window-over' });
}

/**
 * A held run waits for a person. Nothing of it is started, and followed work continues to its end. Its time
 * limit applies.
 */
async function maintainHeld(deps: EngineDeps, run: Run, held: Held): Promise<void> {
  if (run.planComplete) return finishIfDone(deps, run.id);
  if (deps.clock.now() <= held.at + policyOf(run).timeout.runMs) return;
  await concludeRun(deps, run, 'failed', {
    detail: `${TIME_LIMIT_PASSED} It was held (${heldSince(held)}).`,
  });
}

/**
 * Queues an entry for the plan: for a queued run that may start, and for a run whose planner died or could
 * not reach the service.
 */
async function replan(
  deps: EngineDeps,
  run: Run,
  active: readonly Run[],
  accountState: AccountState,
): Promise<void> {
  if (decideOverlap(run, active, policyOf(run)) === 'wait') return;
  const now = deps.clock.now();
  const { firstAt, lastAt } = accountState.replans.get(run.id) ?? {
    firstAt: now,
    lastAt: run.status === 'queued' ? 0 : now,
  };
  accountState.replans.set(run.id, { firstAt, lastAt });
  // A process that started planning knew the job; perhaps it could not reach the service.
  const isJobMissing = run.status === 'queued' && !jobOf(deps.registry, policyOf(run));
  if (isJobMissing && now - firstAt > MISSING_JOB_TIMEOUT_MS) {
    await concludeRun(deps, run, 'failed', { detail: `There is no job "${run.job}" any more.` });
    return;
  }
  if (now - lastAt < REPLAN_AFTER_MS) return;
  accountState.replans.set(run.id, { firstAt, lastAt: now });
  await deps.queues.put([{ kind: 'plan', run: run.id }]);
}

/**
 * The time limit of the run passed: every target gets its outcome now. The run is read again after the time `now`, since
 * another process may have moved the limit: a run that waits for a person at a closed gate gets a later one.
 */
async function endAfterDeadline(
  deps: EngineDeps,
  id: string,
  now: number,
  accountState: AccountState,
): Promise<void> {
  const { records, clock } = deps;
  const run = await records.runs.get(id);
  if (!run || isFinal(run.status) || run.status === 'awaiting-approval') return;
  if (run.deadline === undefined || now <= run.deadline) return;
  const detail = TIME_LIMIT_PASSED;
  if (!run.planComplete) {
    const last = run.detail === undefined ? '' : ` It could not be planned: ${run.detail}`;
    await concludeRun(deps, run, 'failed', { detail: `${detail}${last}` });
    return;
  }
  const { held } = run;
  const late = (target: Target, at: number) =>
    held && target.state !== 'following' ? unknownAfterRollback(target, held, at) : timedOut(target, at);
  await endPending(deps, run, (target) =>
    held ? late(target, clock.now()) : { ...timedOut(target, clock.now()), detail },
  );
  const looks = { left: MAX_LAST_LOOKS };
  for (const state of ['acting', 'following', 'waiting'] as const) {
    for (const target of await records.targets.inState(run.id, state, PAGE)) {
      const limit = { deadline: run.deadline ?? 0, accountState, looks };
      const at = clock.now();
      const end =
        state === 'following'
          ? await endOfFollowed(deps, run, target, limit)
          : namingStep(policyOf(run), late(target, at));
      if (end) await records.targets.move(run, end, { from: [state], at, dueAt: at });
    }
  }
  await finishIfDone(deps, run.id);
}

async function endLate(deps: EngineDeps, run: Run, accountState: AccountState): Promise<void> {
  const { records, clock } = deps;
  const looks = { left: MAX_LAST_LOOKS };
  for (const target of await records.targets.late(run.id, clock.now(), PAGE)) {
    const limit = { deadline: target.deadline ?? 0, accountState, looks };
    const end = await endOfFollowed(deps, run, target, limit);
    const at = clock.now();
    if (end && (await records.targets.move(run, end, { from: [target.state], at, dueAt: at }))) {
      await afterTargets(deps, run.account, [{ run, target: end }]);
    }
  }
}

/**
 * A target whose time limit has passed, with its end. Followed work is looked at once more before. Undefined when
 * that has to wait: for a sweep, for the service, or for the looks at other targets.
 */
async function endOfFollowed(
  deps: EngineDeps,
  run: Run,
  target: Target,
  limit: { deadline: number; accountState: AccountState; looks: { left: number } },
): Promise<Target | undefined> {
  const { deadline, accountState, looks } = limit;
  const { clock } = deps;
  const timeout = (one: Target, isRunning?: boolean) =>
    namingStep(policyOf(run), timedOut(one, clock.now(), isRunning));
  if (target.state !== 'following' || !target.watch) return timeout(target);
  if (mayHaveEnded(deps, target, deadline, accountState)) return undefined;
  const one = { run, target, watch: target.watch };
  looks.left -= 1;
  const looked = looks.left < 0 ? undefined : await lastLook(deps, one, accountState.follower.stopping);
  if (!looked) return clock.now() < deadline + UNSEEN_TIMEOUT_MS ? undefined : timeout(target);
  const [ended] = endsOf(deps.registry, [looked], clock.now());
  return ended?.target ?? timeout(looked.one.target, looked.verdict.is === 'running');
}

/** Whether followed work may have succeeded before its deadline: no sweep has covered it since. */
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
 * A cancelled run whose account refuses access: work in flight cannot be followed to its end. A live worker
 * gets its answer soon. The target of a dead worker would never end, because nothing is released while the
 * account is blocked.
 */
async function endBlocked(deps: EngineDeps, run: Run): Promise<void> {
  const lastRenewal = deps.clock.now() - CLAIMED_TIMEOUT_MS;
  const abandoned = await deps.records.targets.inState(run.id, 'acting', PAGE, lastRenewal);
  const lost = new Set(abandoned.map(({ id }) => id));
  await endOpen(deps, run, ({ id, state, claimed }) => state !== 'acting' || !claimed || lost.has(id));
  await finishIfDone(deps, run.id);
}

/** Recovers released targets whose queue entry was lost or whose worker died. */
async function recoverLost(deps: EngineDeps, run: Run): Promise<void> {
  const { records, queues, clock, log } = deps;
  const now = clock.now();
  const stale = await records.targets.inState(run.id, 'acting', PAGE, now - UNCLAIMED_TIMEOUT_MS);
  if (stale.length === 0) return;
  const unclaimed = stale.filter(({ claimed }) => !claimed);
  // An entry each: its key stays the same while others are claimed, so it is not added twice.
  await queues.put(unclaimed.flatMap((one) => entriesOf(run.id, [one])));
  const abandoned = await records.targets.inState(run.id, 'acting', PAGE, now - CLAIMED_TIMEOUT_MS);
  for (const target of abandoned.filter(({ claimed }) => claimed)) {
    const { claimed: _lost, ...rest } = target;
    const due = { ...rest, state: 'waiting' as const };
    if (await records.targets.move(run, due, { from: ['acting'], dueAt: now, at: now })) {
      log.warn(
        { run: run.id, target: target.id },
        'recovered a target from a worker that stopped responding',
      );
    }
  }
}
