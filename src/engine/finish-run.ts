/**
 * The follow-up work when targets changed their state: the next targets are dispatched, limits are checked,
 * and a complete run ends.
 */

import type { Threshold } from '../policy/policy.ts';
import { jobOf } from '../policy/policy-job.ts';
import type { Entry } from '../queue/entry.ts';
import { pauseAt } from '../records/policy-store.ts';
import type { Allocated, Dispatched } from '../records/target-types.ts';
import { endedCount, finalStatus, isFinal, shownOutcome, shownStatus } from '../run/moves.ts';
import type { Run, Target } from '../run/run.ts';
import { countOf } from '../text.ts';
import { compareFindings } from './compare-findings.ts';
import { type EngineDeps, noticeFor, policyOf, serves } from './deps.ts';
import { probeAfterMs } from './follow/pace.ts';
import { wholeRuns } from './job-api.ts';
import { endUnstarted } from './supervise/end-unstarted.ts';

// A run that ends well although it worked on nothing says so: its status alone would look like a success.

/**
 * A sentence for a run of which no target was worked on; undefined for any other, and for a job that only reports what
 * is selected. Costs no request.
 */
export async function sayNothingDone(
  deps: Pick<EngineDeps, 'records' | 'registry'>,
  run: Run,
): Promise<string | undefined> {
  const { planned, succeeded, failed } = run.counts;
  if (succeeded + failed > 0 || jobOf(deps.registry, policyOf(run))?.reportsSelection) return undefined;
  if (planned > 0) {
    const reasons = (await deps.records.targets.reasons([run.id])).get(run.id) ?? [];
    const said = reasons.map(({ reason, count }) => `${count} ${reason}`).join(', ');
    return `Nothing was done: ${planned === 1 ? 'the only target' : `all ${planned} targets`} ended without work (${said}).`;
  }
  let before = 0;
  for await (const { plan } of wholeRuns(deps, run.policy, run)) {
    before = plan?.targets ?? 0;
    break;
  }
  const had = before > 0 ? `, and the run before had ${countOf(before, 'target')}` : '';
  return `Nothing was done: no target was selected${had}.`;
}

/** A target that has just been written, and its run. */
export interface Moved {
  run: Pick<Run, 'id' | 'account'>;
  target: Pick<Target, 'state' | 'outcome' | 'reason'>;
}

/**
 * Continues the runs of an account after some of their targets were written, so that they do not wait for the
 * supervisor's next round. Costs the same for one target as for many.
 */
export async function afterTargets(
  deps: EngineDeps,
  account: string,
  moved: readonly Moved[],
): Promise<void> {
  const ended = moved.filter(({ target }) => target.state === 'ended');
  const failed = ended.filter(({ target }) => target.outcome === 'failed');
  for (const run of new Set(failed.map((one) => one.run.id))) await stopIfTooManyFailed(deps, run);
  const gone = ended.filter(({ target }) => target.reason === 'gone');
  for (const run of new Set(gone.map((one) => one.run.id))) await stopIfTooManyGone(deps, run);
  for (const run of new Set(ended.map((one) => one.run.id))) await finishIfDone(deps, run);
  if (moved.some(({ target }) => target.state !== 'following')) await dispatch(deps, account);
}

/**
 * Dispatches as many targets of an account's runs as its budget allows. Any process may call it at any time.
 *
 * No more are dispatched than the budget allows in the current window, so the queue never holds all targets
 * of a run. Returns when that window ends and more can be dispatched.
 */
export async function dispatch(deps: EngineDeps, account: string): Promise<number | undefined> {
  const { records, clock } = deps;
  if (!serves(deps, { account })) return undefined;
  const { budget } = deps.link(account);
  const { failingSince, failedAt = 0, resetsAt } = await budget.state();
  if (failingSince === undefined) {
    const room = await budget.availableForActions();
    const allocated = await records.targets.allocate(account, clock.now(), room);
    await dispatchRuns(deps, allocated, 'all');
    return resetsAt > clock.now() ? resetsAt : undefined;
  }
  // During an outage nothing new is started. A target that was started before finds out when the service is
  // back: one of each run at a time, also while its request hangs.
  if (clock.now() < failedAt + probeAfterMs(failedAt - failingSince)) return undefined;
  const runs = await records.runs.active(account);
  await dispatchRuns(
    deps,
    runs.map(({ id }) => ({ run: id, count: 1 })),
    'started',
  );
  return undefined;
}

/** How many targets an entry names at most. */
const TARGETS_OF_ENTRY = 25;

/** The entries for targets of a run that were dispatched. */
export function entriesOf(run: string, dispatched: readonly Dispatched[]): Entry[] {
  const entries: Entry[] = [];
  for (let at = 0; at < dispatched.length; at += TARGETS_OF_ENTRY)
    entries.push({
      kind: 'act',
      run,
      targets: dispatched.slice(at, at + TARGETS_OF_ENTRY).map(({ id, fence }) => ({ id, fence })),
    });
  return entries;
}

/** Dispatches targets of several runs, with one addition to the queue for all of them. */
async function dispatchRuns(
  { records, queues, clock }: EngineDeps,
  runs: readonly (Omit<Allocated, 'acting'> & { acting?: number })[],
  which: 'all' | 'started',
): Promise<void> {
  const entries = await Promise.all(
    runs.map(async ({ run, count, acting }) => {
      const dispatched = await records.targets.dispatch(run, clock.now(), count, which, acting);
      return entriesOf(run, dispatched);
    }),
  );
  if (entries.some((one) => one.length > 0)) await queues.put(entries.flat());
}

/**
 * A percentage applies only from this many failures on: one or two failed targets of a small plan prove
 * little.
 */
const MIN_FAILURES = 3;

/** How many failed targets stop a run. */
export const failuresThatStop = (threshold: Threshold, planned: number): number =>
  'count' in threshold
    ? threshold.count
    : Math.max(MIN_FAILURES, Math.ceil((planned * threshold.percent) / 100));

/** Whether so many targets of a run failed that its `stop_after_failures` ends it. */
export function hasTooManyFailed(run: Run): boolean {
  const threshold = policyOf(run).limits.stopAfterFailures;
  return threshold !== undefined && run.counts.failed >= failuresThatStop(threshold, run.counts.planned);
}

/**
 * Applies the run's `stop_after_failures`: targets in flight continue to their end, and no others are
 * started.
 */
export async function stopIfTooManyFailed(deps: EngineDeps, runId: string): Promise<void> {
  const run = await deps.records.runs.get(runId);
  if (!run || run.ending || !hasTooManyFailed(run)) return;
  const { failed, planned } = run.counts;
  const detail = `Stopped after ${failed} of ${planned} targets failed (limits.stop_after_failures).`;
  await deps.records.runs.end(run, 'safety-limit', detail);
  await endUnstarted(deps, { ...run, ending: 'safety-limit' });
}

/** How many targets can be removed while a run works, whatever its size; and this percentage of its plan. */
const FEW_GONE = 3;
const FEW_GONE_PERCENT = 10;

/**
 * Stops a run in which more than a few targets are gone: its plan is not of this account any more. Targets in flight
 * continue to their end, and no others are started.
 */
async function stopIfTooManyGone(deps: EngineDeps, runId: string): Promise<void> {
  const { records } = deps;
  const run = await records.runs.get(runId);
  if (!run || run.ending) return;
  const reasons = (await records.targets.reasons([runId])).get(runId) ?? [];
  const gone = reasons.find(({ outcome, reason }) => outcome === 'skipped' && reason === 'gone')?.count ?? 0;
  const { planned } = run.counts;
  if (gone <= Math.max(FEW_GONE, (planned * FEW_GONE_PERCENT) / 100)) return;
  const detail = `Stopped after ${gone} of ${planned} targets were gone: the plan does not fit the account any more. Check base_url and token of the account, then run the policy again.`;
  await records.runs.end(run, 'safety-limit', detail);
  await endUnstarted(deps, { ...run, ending: 'safety-limit' });
}

/** Whether all targets of a run have their outcome. */
export const isDone = ({ planComplete, counts }: Run): boolean =>
  planComplete === true && endedCount(counts) >= counts.planned;

/** Ends a run when all of its targets have their outcome. Of several callers, exactly one ends it. */
export async function finishIfDone(deps: EngineDeps, runId: string): Promise<void> {
  const run = await deps.records.runs.get(runId);
  if (!run || isFinal(run.status) || !isDone(run)) return;
  await concludeRun(deps, run, finalStatus(run));
}

/**
 * Compares the findings of a run with those of earlier runs and moves it to its final status, then counts
 * failures, once per run. The move brings the notice that the run ended. False when another process ended the run first.
 */
export async function concludeRun(
  deps: EngineDeps,
  run: Run,
  status: Run['status'],
  change: { detail?: string; planFence?: number } = {},
): Promise<boolean> {
  const { records, clock, log } = deps;
  if (run.planComplete) await compareFindings(deps, run);
  const at = clock.now();
  const notice = noticeFor(policyOf(run), { type: 'run', run: run.id, at, status });
  const nothing = status === 'succeeded' ? await sayNothingDone(deps, run) : undefined;
  const detail = nothing === undefined ? {} : { detail: [run.detail, nothing].filter(Boolean).join(' ') };
  const found = await countFound(deps, run);
  if (!(await records.runs.move(run, status, { at, ...change, ...detail, found, notice }))) return false;
  const ended = (await records.runs.get(run.id)) ?? run;
  const { counts, requests, detail: why } = ended;
  log.info({ run: run.id, status, ...counts, requests, ...(why ? { detail: why } : {}) }, 'a run ended');
  await countFailures(deps, ended);
  return true;
}

/** In how many of the failed targets a check found something. */
async function countFound({ records, registry }: EngineDeps, { id, counts }: Run): Promise<number> {
  const reasons = counts.failed === 0 ? [] : ((await records.targets.reasons([id])).get(id) ?? []);
  return reasons
    .filter(({ outcome, reason }) => shownOutcome(registry.reasons, outcome, reason) === 'found')
    .reduce((sum, { count }) => sum + count, 0);
}

/** Runs that no one started in person. */
const countedTriggers = new Set<Run['trigger']>(['schedule', 'catch-up', 'after']);

/** Pauses a policy whose scheduled runs failed too often in a row (`schedule.pause_after_failures`). */
async function countFailures(deps: EngineDeps, run: Run): Promise<void> {
  if (run.status === 'cancelled' || run.status === 'skipped') return;
  if (!countedTriggers.has(run.trigger)) return;
  const { records, clock, log } = deps;
  const failed = ['failed', 'stopped'].includes(shownStatus(run));
  // One that skipped all of its targets says nothing.
  if (run.status === 'succeeded' && !(await records.runs.showsRecovery(run))) return;
  const inARow = await records.policies.countFailure(run.policy, failed);
  const policy = policyOf(run);
  const allowed = policy.schedule?.pauseAfterFailures;
  if (!failed || allowed === undefined || inARow < allowed) return;
  // A pause that a person set is not overwritten.
  if (pauseAt(await records.policies.state(run.policy), clock.now())) return;
  const reason = `${inARow} runs failed in a row`;
  const pause = { at: clock.now(), by: 'caretaker', reason };
  const { at, by } = pause;
  const notice = noticeFor(policy, { type: 'paused', run: run.id, at, by, reason });
  await records.policies.pause(run.policy, pause, notice);
  log.warn({ policy: run.policy }, `paused: ${reason}; caretaker policies resume ${run.policy} resumes it`);
  deps.onPolicyPaused?.(run, policy, pause);
}
