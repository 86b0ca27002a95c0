/**
 * What follows when a target has moved on: the next ones are handed out, limits are checked, a run finds its
 * end.
 */

import type { Threshold } from '../policy/policy.ts';
import { pauseAt } from '../records/policy-store.ts';
import type { Allocated } from '../records/target-types.ts';
import { endedCount, finalStatus, isFinal } from '../run/moves.ts';
import type { Run, Target } from '../run/run.ts';
import { type EngineDeps, policyOf } from './deps.ts';
import { askAgainAfterMs } from './follow/pace.ts';
import { endUnstarted } from './supervise/end-unstarted.ts';

/** A target that has just been written, and whose it is. */
export interface Moved {
  run: Pick<Run, 'id' | 'account'>;
  target: Pick<Target, 'state' | 'outcome'>;
}

/**
 * Looks after the runs of an account some of whose targets have just been written, so that nobody waits for
 * the supervisor's next round. Costs the same for one as for many.
 */
export async function afterTargets(
  deps: EngineDeps,
  account: string,
  moved: readonly Moved[],
): Promise<void> {
  const ended = moved.filter(({ target }) => target.state === 'ended');
  const failed = ended.filter(({ target }) => target.outcome === 'failed');
  for (const run of new Set(failed.map((one) => one.run.id))) await stopIfTooManyFailed(deps, run);
  for (const run of new Set(ended.map((one) => one.run.id))) await finishIfDone(deps, run);
  if (moved.some(({ target }) => target.state !== 'following')) await dispatch(deps, account);
}

/**
 * Hands out what an account has room for, to whichever of its runs is next. Safe to call by anybody at any
 * time.
 *
 * The fleet of a run is never in the queue at once: no more is handed out than the budget lets go in this
 * window. Gives when the window under way ends, and there is room again.
 */
export async function dispatch(deps: EngineDeps, account: string): Promise<number | undefined> {
  const { records, clock } = deps;
  if (!deps.serves(account)) return undefined;
  const {
    failingSince,
    failedAt = 0,
    availableForActions,
    resetsAt,
  } = await deps.link(account).budget.state();
  if (failingSince === undefined) {
    const allotted = await records.targets.allot(account, clock.now(), availableForActions);
    await Promise.all(allotted.map((one) => release(deps, one, 'all')));
    return resetsAt > clock.now() ? resetsAt : undefined;
  }
  // While nobody gets an answer, nothing new is begun: one that was begun finds out when the service is back.
  if (clock.now() < failedAt + askAgainAfterMs(failedAt - failingSince)) return undefined;
  for (const run of await records.runs.active(account))
    await release(deps, { run: run.id, count: 1 }, 'begun');
  return undefined;
}

async function release(
  deps: EngineDeps,
  { run, count, acting }: Omit<Allocated, 'acting'> & { acting?: number },
  which: 'all' | 'begun',
): Promise<void> {
  const released = await deps.records.targets.release(run, deps.clock.now(), count, which, acting);
  if (released.length === 0) return;
  await deps.queues.put(released.map(({ id, step }) => ({ kind: 'act', run, target: id, step })));
}

/**
 * A share says something of the service or the policy only when it is not the bad luck of one or two targets.
 */
const FEWEST_OF_A_SHARE = 3;

/** How many failed targets stop a run. A share counts from three failures on, however small the plan is. */
export const failuresThatStop = (threshold: Threshold, planned: number): number =>
  'count' in threshold
    ? threshold.count
    : Math.max(FEWEST_OF_A_SHARE, Math.ceil((planned * threshold.percent) / 100));

/** Trips the run's `stop_after_failures`: what is in flight goes on to its end, the rest is not begun. */
export async function stopIfTooManyFailed(deps: EngineDeps, runId: string): Promise<void> {
  const run = await deps.records.runs.get(runId);
  if (!run || run.ending) return;
  const threshold = policyOf(run).limits.stopAfterFailures;
  if (!threshold) return;
  const { failed, planned } = run.counts;
  if (failed < failuresThatStop(threshold, planned)) return;
  const detail = `Stopped after ${failed} of ${planned} targets failed (limits.stop_after_failures).`;
  await deps.records.runs.end(run, 'safety-limit', detail);
  await endUnstarted(deps, { ...run, ending: 'safety-limit' });
}

/** Ends a run whose every target has its outcome; exactly one caller does. */
export async function finishIfDone(deps: EngineDeps, runId: string): Promise<void> {
  const run = await deps.records.runs.get(runId);
  if (!run || isFinal(run.status) || !run.planComplete) return;
  if (endedCount(run.counts) < run.counts.planned) return;
  await concludeRun(deps, run, finalStatus(run));
}

/**
 * Moves a run to its final status and does once what belongs to it. False when somebody else ended it first.
 */
export async function concludeRun(
  deps: EngineDeps,
  run: Run,
  status: Run['status'],
  change: { detail?: string; planStep?: number } = {},
): Promise<boolean> {
  const { records, clock, log } = deps;
  const at = clock.now();
  if (!(await records.runs.move(run, status, { at, ...change }))) return false;
  const ended = (await records.runs.get(run.id)) ?? run;
  log.info({ run: run.id, status, ...ended.counts, requests: ended.requests }, 'a run ended');
  await countFailures(deps, ended);
  deps.onRunEnded?.(ended, policyOf(ended));
  return true;
}

/** Pauses a policy whose scheduled runs failed too often in a row (`schedule.pause_after_failures`). */
async function countFailures(deps: EngineDeps, run: Run): Promise<void> {
  if (run.status === 'cancelled' || run.status === 'skipped') return;
  if (run.trigger !== 'schedule' && run.trigger !== 'catch-up') return;
  const { records, clock, log } = deps;
  const failed = run.status === 'failed' || run.status === 'stopped';
  const inARow = await records.policies.countFailure(run.policy, failed);
  const policy = policyOf(run);
  const allowed = policy.schedule?.pauseAfterFailures;
  if (!failed || allowed === undefined || inARow < allowed) return;
  // Somebody's own pause keeps its name and reason.
  if (pauseAt(await records.policies.state(run.policy), clock.now())) return;
  const reason = `${inARow} runs failed in a row`;
  const pause = { at: clock.now(), by: 'caretaker', reason };
  await records.policies.pause(run.policy, pause);
  log.warn({ policy: run.policy }, `paused: ${reason}; caretaker policies resume ${run.policy} resumes it`);
  deps.onPolicyPaused?.(run, policy, pause);
}
