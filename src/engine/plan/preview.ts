/** A plan for people to read: what a policy would work on, what it leaves out, what it would cost. */
import type { End } from '../../job/answer.ts';
import type { Policy } from '../../policy/policy.ts';
import { coreReasonText, type Reason } from '../../run/reasons.ts';
import type { Outcome } from '../../run/run.ts';
import type { EngineDeps } from '../deps.ts';
import { earlierTargets, previousAt } from '../job-api.ts';
import { candidates, countAll, type Planned, type Planning } from './candidates.ts';
import { costOf, pastCost, shareOf, timeFor } from './cost.ts';
import { Selection } from './selection.ts';

export interface Preview {
  policy: string;
  job: string;
  targets: { id: string; label: string }[];
  /** Recorded with their outcome without costing a request, and why. */
  settled: { id: string; label: string; outcome: Outcome; reason: Reason; why: string }[];
  /** Those among them that were asked for by name although the policy does not select them. */
  unselected: string[];
  excluded: { id: string; label: string; why: string }[];
  /** Over how long a scheduled run would start them; missing: at once. */
  spreadMs?: number;
  /** What the selection names that is not in the account, and that it finds nothing at all. */
  warnings: string[];
  /** The sentence about the limit that would stop the run, if one would. */
  stoppedBy?: string;
  cost: {
    /** Requests for planning, as just spent, and for all the rest, as far as one can tell. */
    planning: number;
    acting: number;
    following: number;
    /** What acting and following are estimated from: so many past runs of the policy, or none. */
    pastRuns: number;
    /** How long that takes at least, given the account's budget. */
    atLeastMs: number;
    /** How long it takes beside the runs under way and other clients, and what these spend a minute. */
    takesMs: number;
    runsBeside: number;
    othersPerMinute?: number;
  };
}

/**
 * Plans without storing anything. Costs one request per 100 candidates, one more with `limits.max_percent`,
 * and the job's preparation.
 */
export async function previewPlan(
  deps: EngineDeps,
  policy: Policy,
  only?: readonly string[],
): Promise<Preview> {
  const job = deps.registry.get(policy.job);
  if (!job) throw new Error(`There is no job "${policy.job}".`);
  const { client, budget } = deps.link(policy.account);
  let planning = 0;
  const selection = new Selection(policy, job);
  const asked: Planning = {
    policy,
    job,
    client,
    retry: false,
    only,
    now: deps.clock.now(),
    at: deps.clock.now(),
    previousAt: job.prepare && (await previousAt(deps, policy.name, undefined)),
    earlier: () => earlierTargets(deps, policy, undefined),
    once: { results: (keys) => deps.records.once.results(policy.account, keys) },
    requestClass: 'person',
    onRequest: () => {
      planning += 1;
    },
    onCandidate: selection.see,
  };
  const all: Planned[] = [];
  for await (const planned of candidates(asked)) all.push(planned);
  const targets = all.flatMap(({ is, id, label }) => (is === 'target' ? [{ id, label }] : []));
  const stoppedBy = await limitTripped(asked, targets.length);
  const warnings = await selection.warnings(asked);
  const past = await pastCost(deps, policy);
  const { acting, following } = costOf(job, policy, targets.length, past);
  const [usage, active] = await Promise.all([budget.usage(), deps.records.runs.active(policy.account)]);
  const requests = planning + acting + following;
  const { othersPerMinute } = usage;
  return {
    policy: policy.name,
    job: policy.job,
    targets,
    settled: all.flatMap((one) =>
      one.is === 'settled' ? [{ id: one.id, label: one.label, ...knownOutcomes(one.end) }] : [],
    ),
    unselected: all.flatMap((one) => (one.is === 'settled' && one.unselected ? [one.id] : [])),
    excluded: all.flatMap((one) =>
      one.is === 'excluded' ? [{ id: one.id, label: one.label, why: one.why }] : [],
    ),
    ...(policy.schedule?.spreadMs === undefined ? {} : { spreadMs: policy.schedule.spreadMs }),
    warnings,
    ...(stoppedBy === undefined ? {} : { stoppedBy }),
    cost: {
      planning,
      acting,
      following,
      pastRuns: past?.runs ?? 0,
      atLeastMs: timeFor(requests, Math.max(1, usage.limit)),
      takesMs: Math.max(
        timeFor(requests, shareOf(policy, usage, active)),
        Math.round(targets.length * (past?.perTarget?.ms ?? 0)),
      ),
      runsBeside: active.filter(({ status }) => status === 'running').length,
      ...(othersPerMinute === undefined ? {} : { othersPerMinute }),
    },
  };
}

const knownOutcomes = ({ is, reason, detail }: End) => ({
  outcome: is === 'done' ? ('succeeded' as const) : is,
  reason,
  why: detail ?? coreReasonText(reason) ?? '',
});

async function limitTripped(asked: Planning, found: number): Promise<string | undefined> {
  const { maxTargets, maxPercent } = asked.policy.limits;
  if (found > maxTargets) return `${found} targets are more than limits.max_targets (${maxTargets}) allows.`;
  if (maxPercent >= 100) return undefined;
  const total = await countAll(asked);
  if (found * 100 <= maxPercent * total) return undefined;
  return `${found} of ${total} targets are more than limits.max_percent (${maxPercent}%) allows.`;
}
