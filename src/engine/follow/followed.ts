/**
 * A target whose work in the service is followed, and how a verdict on that work changes it. Pure functions.
 */
import type { CallOptions } from '../../client/call-options.ts';
import { GoneError, RejectedError } from '../../client/errors.ts';
import type { TimeBounds } from '../../clock.ts';
import { ContractError } from '../../contract/answers.ts';
import { CaretakerError } from '../../errors.ts';
import type { End } from '../../job/answer.ts';
import type { Api } from '../../job/api.ts';
import { type Registry, watchKindOf } from '../../job/registry.ts';
import type { Lost, Verdict } from '../../job/watch/watch.ts';
import type { Policy } from '../../policy/policy.ts';
import { jobOf } from '../../policy/policy-job.ts';
import type { Run, Target, TargetIn, Watch } from '../../run/run.ts';
import type { Work } from '../../trace/traces.ts';
import { concluded, continued, stepDone, taskCancelled } from '../act/decide.ts';
import { RequestLog } from '../act/report-act.ts';
import { type EngineDeps, policyOf, Spending } from '../deps.ts';
import { explainEnd, namingStep } from '../explain-end.ts';
import { createJobApi, readOnlyCall } from '../job-api.ts';
import { notShown, stillUnderWay } from '../supervise/end-run.ts';

/** A followed target with its run. */
export interface Followed {
  run: Run;
  target: TargetIn<'following'>;
  watch: Watch;
}

/** Followed work with the verdict on it. */
export interface Evaluated {
  one: Followed;
  verdict: Verdict;
}

/** The same, with the requests that were sent for it alone. */
export const withRequestsOf = (log: RequestLog, one: Followed): Followed => ({
  ...one,
  target: log.addTo(one.target),
});

/** Whether work failed and its list does not say why. */
export const lacksDetail = (verdict: Verdict): boolean =>
  verdict.is === 'failed' && verdict.detail === undefined;

/** The end that follows from a verdict; undefined for work that continues within its time limit. */
export function endFrom(one: Followed, verdict: Verdict, at: number): End | undefined {
  if (verdict.is !== 'running' && verdict.is !== 'unclear') return verdict;
  if (!isLate(one, at)) return undefined;
  return verdict.is === 'running'
    ? { is: 'failed', reason: 'timeout', detail: stillUnderWay(one.watch) }
    : { is: 'failed', reason: 'unconfirmed', detail: notShown(one.watch) };
}

/** The target after its followed work has ended. */
export function targetAfterEnd(target: TargetIn<'following'>, verdict: End, at: number): Target {
  if (target.taskCancel && verdict.reason === 'task-cancelled') return taskCancelled(target, at);
  if (target.endsStep)
    return verdict.is === 'done' ? stepDone(target, verdict, at) : concluded(target, verdict, at);
  return target.continues ? continued(target, verdict) : concluded(target, verdict, at);
}

/** The work among these that has ended, and its targets after that. */
export function endsOf(
  registry: Registry,
  evaluated: readonly Evaluated[],
  at: number,
): { one: Followed; end: End; target: Target }[] {
  // Many targets have the same run, whose policy is read once.
  const policies = new Map<string, Policy>();
  return evaluated.flatMap(({ one, verdict }) => {
    const found = endFrom(one, verdict, at);
    if (!found) return [];
    const policy = policies.get(one.run.id) ?? policyOf(one.run);
    policies.set(one.run.id, policy);
    const job = jobOf(registry, policy);
    const end = job ? explainEnd(job, found) : found;
    return [{ one, end, target: namingStep(policy, targetAfterEnd(one.target, end, at)) }];
  });
}

/**
 * Whether the time limit that the job set for this work passed. The target's own time limit applies as well.
 */
export const isLate = ({ watch }: Pick<Followed, 'watch'>, now: number): boolean =>
  watch.until !== undefined && now >= watch.until;

export const isLost = ({ target }: Pick<Followed, 'target'>): boolean => target.lostAt !== undefined;

export function partition<T>(all: readonly T[], condition: (one: T) => boolean): [T[], T[]] {
  return [all.filter(condition), all.filter((one) => !condition(one))];
}

/** What a request about this work alone is sent for. */
export const workOf = ({ run, target, watch }: Followed): Work => ({
  run: run.id,
  target: target.id,
  followedSince: watch.since,
});

export const keyOfFollowed = ({ run, target }: Followed): string => `${run.id}/${target.id}`;

/** The run that a sweep's requests are counted for: the one with the most targets in flight. */
export function runWithMostInFlight(followed: readonly Followed[]): string {
  const counts = new Map<string, number>();
  for (const { run } of followed) counts.set(run.id, (counts.get(run.id) ?? 0) + 1);
  return [...counts].sort((a, b) => b[1] - a[1])[0]?.[0] ?? '';
}

// Asks the service about one piece of followed work, by its own view.

/** The result of the work; `startOf`: when it began, by the service's clock. Throws the client's other errors. */
export async function requestStatus(
  api: Api,
  watch: Watch,
  startOf: () => Promise<TimeBounds>,
  { registry }: Pick<EngineDeps, 'registry'>,
): Promise<Verdict | Lost> {
  try {
    return await watchKindOf(registry, watch.kind).poll(api, watch, await startOf());
  } catch (error) {
    if (error instanceof GoneError) return { is: 'skipped', reason: 'gone' };
    if (error instanceof RejectedError || error instanceof ContractError) return { is: 'unclear' };
    throw error;
  }
}

// The look at followed work whose time limit has passed, by its own view: no list may have shown its end.

/** How many looks one round makes: a round delays the other work of the supervisor. */
export const MAX_LAST_LOOKS = 20;

/** The result of the work; undefined when the service does not answer now. One or two requests, counted for the run. */
export async function lastLook(
  deps: EngineDeps,
  one: Followed,
  signal: AbortSignal,
): Promise<Evaluated | undefined> {
  const { run, target, watch } = one;
  const { client } = deps.link(run.account);
  const spent = new Spending();
  const log = new RequestLog();
  const options: CallOptions = {
    ...{ requestClass: 'follow', whenSpent: 'leave', signal, onRequest: spent.count, onAnswer: log.note },
    onSent: deps.traces?.requestsOf(workOf(one)),
  };
  const startOf = async () => watch.serviceSince ?? client.serviceTime(watch.since, options);
  try {
    const { api } = createJobApi(client, options, readOnlyCall(client, options));
    const found = await requestStatus(api, watch, startOf, deps);
    const looked = withRequestsOf(log, one);
    if (found.is !== 'lost') return { one: looked, verdict: found };
    const detail = target.detail ?? found.detail;
    return { one: { ...looked, target: { ...looked.target, detail } }, verdict: { is: 'unclear' } };
  } catch (error) {
    if (!(error instanceof CaretakerError)) throw error;
    return undefined;
  } finally {
    await deps.records.runs.countRequests(run.id, spent.take());
  }
}

/** This long after its time limit, followed work ends although nothing could show its result. */
export const UNSEEN_TIMEOUT_MS = 5 * 60_000;

/** The same for the first of these whose own limit (`until`) has passed. The others, and what nothing shows now, wait. */
export async function lastLooks(
  deps: EngineDeps,
  late: readonly { one: Followed }[],
  signal: AbortSignal,
): Promise<Evaluated[]> {
  const looked: Evaluated[] = [];
  for (const { one } of late.slice(0, MAX_LAST_LOOKS)) {
    const found = await lastLook(deps, one, signal);
    if (found) looked.push(found);
    else if (deps.clock.now() >= (one.watch.until ?? 0) + UNSEEN_TIMEOUT_MS)
      looked.push({ one, verdict: { is: 'unclear' } });
  }
  return looked;
}
