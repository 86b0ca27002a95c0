/** What a run is planned with: its policy, and what our records know of earlier runs. */
import type { AnyJob } from '../../job/job.ts';
import { jobOf } from '../../policy/policy-job.ts';
import type { Run, StepEnd } from '../../run/run.ts';
import { looksOf } from '../act/ownership.ts';
import { findingsIn } from '../compare-findings.ts';
import { type EngineDeps, policyOf, type Spending } from '../deps.ts';
import { earlierTargets, previousAt } from '../job-api.ts';
import { type Planning, viewsOf } from './planning.ts';

/** Reads our records; costs no request. Undefined when this process does not know the job. */
export async function planningOf(
  deps: EngineDeps,
  run: Run,
  { only, spent, signal }: { only: readonly string[]; spent: Spending; signal?: AbortSignal | undefined },
): Promise<Planning | undefined> {
  const { records, clock } = deps;
  const policy = policyOf(run);
  const job = jobOf(deps.registry, policy);
  if (!job) return undefined;
  const previous = job.prepare ? await previousAt(deps, run.policy, run) : undefined;
  const freezes = run.ignoresFreezes ? [] : await records.freeze.ofTargets(policy, clock.now());
  const stepsDone = await stepsDoneBefore(deps, run, job);
  return {
    policy,
    job,
    client: deps.link(run.account).client,
    retry: run.retryOf !== undefined,
    ...(stepsDone ? { stepsDone } : {}),
    only: only.length > 0 ? only : undefined,
    now: clock.now(),
    at: contextTimeOf(run),
    previousAt: previous,
    earlier: () => earlierTargets(deps, policyOf(run), run),
    once: { results: (keys) => records.once.results(run.account, keys) },
    announcements: { all: () => records.announcements.all(run.account, run.policy) },
    findingsOf: findingsIn(records, run.account),
    looks: looksOf(deps, run, run.policy),
    requestClass: 'action',
    onRequest: spent.count,
    onSent: deps.traces?.requestsOf({ run: run.id }),
    views: viewsOf(policy),
    freezes,
    ...(signal ? { signal } : {}),
  };
}

/** For the retry of a run of a policy with steps: which steps the failed targets have done. */
async function stepsDoneBefore(
  { records }: EngineDeps,
  run: Run,
  job: AnyJob,
): Promise<ReadonlyMap<string, readonly StepEnd[]> | undefined> {
  if (run.retryOf === undefined || !job.steps) return undefined;
  const done = new Map<string, readonly StepEnd[]>();
  for await (const { id, outcome, steps } of records.targets.all(run.retryOf))
    if (outcome === 'failed' && steps) done.set(id, steps);
  return done;
}

/** The time that the texts and periods of a run count from: that of its plan, if the plan was made before it. */
export const contextTimeOf = ({
  planHash,
  decidedAt,
  scheduledFor,
}: Pick<Run, 'planHash' | 'decidedAt' | 'scheduledFor'>): number =>
  planHash !== undefined && decidedAt ? decidedAt.at : scheduledFor;
