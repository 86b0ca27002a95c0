/** A plan for people to read: what a policy would work on, what it leaves out, what it would cost. */
import type { AnyJob, End } from '../job/job.ts';
import type { Policy } from '../policy/policy.ts';
import { type Reason, reasons } from '../run/reasons.ts';
import type { Outcome } from '../run/run.ts';
import { candidates, countAll, type Planned, type Planning } from './candidates.ts';
import type { Parts } from './parts.ts';
import { earlierTargets, previousAt } from './reading.ts';

export interface Preview {
  policy: string;
  job: string;
  targets: { id: string; label: string }[];
  /** Recorded with their outcome without costing a request, and why. */
  settled: { id: string; label: string; outcome: Outcome; reason: Reason; why: string }[];
  /** Those among them that were asked for by name although the policy does not select them. */
  unselected: string[];
  leftOut: { id: string; label: string; why: string }[];
  /** Over how long a scheduled run would start them; missing: at once. */
  spreadMs?: number;
  /** The sentence about the limit that would stop the run, if one would. */
  stoppedBy?: string;
  cost: {
    /** Requests for planning, as just spent, and for all the rest, as far as one can tell. */
    planning: number;
    acting: number;
    following: number;
    /** How long that takes at least, given the account's budget. */
    atLeastMs: number;
  };
}

/** Sweeps cost pages in proportion to what ends; this is what they come to per target in practice. */
const FOLLOWING_PER_TARGET = 0.06;

/**
 * Plans without storing anything. Costs one request per 100 candidates, one more with `limits.max_percent`, and the job's
 * survey.
 */
export async function previewPlan(parts: Parts, policy: Policy, only?: readonly string[]): Promise<Preview> {
  const job = parts.registry.get(policy.job);
  if (!job) throw new Error(`There is no job "${policy.job}".`);
  const { client, budget } = parts.link(policy.account);
  let planning = 0;
  const asked: Planning = {
    policy,
    job,
    client,
    only: only && { ids: only, whatever: false },
    now: parts.clock.now(),
    at: parts.clock.now(),
    previousAt: job.survey && (await previousAt(parts, policy.name, undefined)),
    earlier: () => earlierTargets(parts, policy, undefined),
    priority: 'person',
    onRequest: () => {
      planning += 1;
    },
  };
  const all: Planned[] = [];
  for await (const planned of candidates(asked)) all.push(planned);
  const targets = all.flatMap(({ is, id, label }) => (is === 'target' ? [{ id, label }] : []));
  const stoppedBy = await limitTripped(asked, targets.length);
  const acting = Math.ceil(targets.length * requestsPerTarget(job, policy));
  const following = Math.ceil(targets.length * FOLLOWING_PER_TARGET);
  const { limit } = await budget.state();
  return {
    policy: policy.name,
    job: policy.job,
    targets,
    settled: all.flatMap((one) =>
      one.is === 'settled' ? [{ id: one.id, label: one.label, ...settledAs(one.end) }] : [],
    ),
    unselected: all.flatMap((one) => (one.is === 'settled' && one.unselected ? [one.id] : [])),
    leftOut: all.flatMap((one) =>
      one.is === 'left-out' ? [{ id: one.id, label: one.label, why: one.why }] : [],
    ),
    ...(policy.schedule?.spreadMs === undefined ? {} : { spreadMs: policy.schedule.spreadMs }),
    ...(stoppedBy === undefined ? {} : { stoppedBy }),
    cost: {
      planning,
      acting,
      following,
      atLeastMs: Math.floor((planning + acting + following) / Math.max(1, limit)) * 60_000,
    },
  };
}

const requestsPerTarget = ({ requestsPerTarget: some }: AnyJob, { options }: Policy): number =>
  typeof some === 'number' ? some : some(options);

const settledAs = ({ is, reason, detail }: End) => ({
  outcome: is === 'done' ? ('succeeded' as const) : is,
  reason,
  why: detail ?? reasons[reason],
});

async function limitTripped(asked: Planning, found: number): Promise<string | undefined> {
  const { maxTargets, maxPercent } = asked.policy.limits;
  if (found > maxTargets) return `${found} targets are more than limits.max_targets (${maxTargets}) allows.`;
  if (maxPercent >= 100) return undefined;
  const total = await countAll(asked);
  if (found * 100 <= maxPercent * total) return undefined;
  return `${found} of ${total} targets are more than limits.max_percent (${maxPercent}%) allows.`;
}
