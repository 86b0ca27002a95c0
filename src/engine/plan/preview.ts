/** A plan for people to read: what a policy would work on, what it would exclude, and what it would cost. */
import type { Incomplete } from '../../client/pages.ts';
import { defined } from '../../defined.ts';
import type { End } from '../../job/answer.ts';
import type { CandidateSource } from '../../job/candidates.ts';
import type { AnyJob } from '../../job/job.ts';
import { candidatesOf } from '../../job/source.ts';
import type { Policy } from '../../policy/policy.ts';
import { jobOf } from '../../policy/policy-job.ts';
import { type Freeze, formatFreeze, formatFrozen } from '../../records/freeze-store.ts';
import { coreReasonText, type Reason } from '../../run/reasons.ts';
import { assignBatches, type Batch, batchesOf } from '../../run/rollout.ts';
import type { Finding, LookedUp, Outcome } from '../../run/run.ts';
import { redact } from '../../secrets.ts';
import { countOf } from '../../text.ts';
import { findingsIn } from '../compare-findings.ts';
import type { PlanDeps } from '../deps.ts';
import { earlierTargets, lastLook, previousAt } from '../job-api.ts';
import { approvalWanted, type Wanted } from '../rollout/place.ts';
import { candidates, toolsOf } from './candidates.ts';
import { checksBetween, costOf, durationOf, pastCost, requestsPerMinuteFor } from './cost.ts';
import { Directory, lookUpNames, placeOf, withNames } from './directory.ts';
import { countAll } from './listing.ts';
import { excessiveChange } from './max-change.ts';
import { GroupCounts } from './owners.ts';
import {
  type PlannedRecording,
  type PlannedRequests,
  plannedRecording,
  plannedRequests,
  readsNothing,
} from './planned-requests.ts';
import { type Planned, type Planning, type PushedFilter, viewsOf } from './planning.ts';
import type { DecidedAt } from './recheck.ts';
import { incompleteNoted, isGrave, Selection, withIncomplete } from './selection.ts';

export interface Preview extends PlannedRollout {
  policy: string;
  job: string;
  /** The ids that names in the policy stand for, and where the policy has each name. */
  names: { at: string; kind: string; name: string; id: string }[];
  /** The list that candidates come from, or what else of the account. */
  list: CandidateSource;
  /** The filters that it is sent: those of the policy, and those for parts of `where`, which they have. */
  filters: { field: string; operator: string; value: unknown; where?: string }[];
  /**
   * `plan`: what would be done, where the job says so. The requests are those of a target that succeeds.
   * `recordSite`: the site that is written to, with `record` in the policy.
   */
  targets: ({ id: string; label: string; plan?: string; recordSite?: string } & PlannedRequests)[];
  /** Targets that would be recorded with their outcome without a request, and why. */
  ended: {
    id: string;
    label: string;
    outcome: Outcome;
    reason: Reason;
    why: string;
    findings?: readonly Finding[];
  }[];
  /** The ids among them that were requested although the policy does not select them. */
  unselected: string[];
  excluded: { id: string; label: string; why: string }[];
  /** The duration over which a scheduled run would start its targets; missing when it starts them at once. */
  spreadMs?: number;
  /** What would be written to the sites; missing without `record` in the policy. */
  recording?: PlannedRecording;
  /**
   * Messages about names in the selection that the account does not have, about an empty selection, and about
   * a freeze.
   */
  warnings: string[];
  /** The message about the limit that would stop the run, if any. */
  stoppedBy?: string;
  cost: {
    /** Requests: those just spent on planning, and estimates for acting and following. */
    planning: number;
    acting: number;
    following: number;
    /** Those of `following` that are spent between batches: see `checksBetween`. */
    checks?: number;
    /** How many past runs of the policy the estimates are based on. */
    pastRuns: number;
    /** The minimum duration, given the account's budget. */
    atLeastMs: number;
    /**
     * The expected duration beside the active runs and other clients, and the requests per minute of those
     * clients.
     */
    takesMs: number;
    runsBeside: number;
    othersPerMinute?: number;
  };
}

/** A plan as it was made: what people are shown, and what else is known. */
export interface MadePlan {
  preview: Preview;
  /** The policy with ids in place of names. */
  policy: Policy;
  job: AnyJob;
  names: readonly LookedUp[];
  planned: readonly Planned[];
  decidedAt: DecidedAt;
}

/**
 * Plans without storing anything. Costs one request per 100 candidates, one more with `limits.max_percent`,
 * and the job's preparation. With names in place of ids, one more per 100 tags, clients, ...
 *
 * @throws {UnknownNameError} when a name stands for nothing in the account, or for several things; and, for a policy
 *   that deletes or mails, {UnknownReferenceError} and {IncompleteListError}.
 */
export const previewPlan = async (
  deps: PlanDeps,
  policy: Policy,
  only?: readonly string[],
): Promise<Preview> => (await makePlan(deps, policy, { only })).preview;

/** The same, with all that is known of the plan. `withFacts`: see `Planning`. Costs and throws the same. */
export async function makePlan(
  deps: PlanDeps,
  given: Policy,
  { only, ...facts }: { only?: readonly string[] | undefined; withFacts?: true },
): Promise<MadePlan> {
  const job = jobOf(deps.registry, given);
  if (!job) throw new Error(`There is no job "${given.job}".`);
  const { client, budget } = deps.link(given.account);
  let planningRequests = 0;
  const onRequest = () => {
    planningRequests += 1;
  };
  const incomplete = new Map<string, Incomplete>();
  const onIncomplete = incompleteNoted(isGrave(job, given), incomplete);
  const directory = new Directory(client, { requestClass: 'person', onRequest }, onIncomplete);
  const names = await lookUpNames(given, job, directory);
  const policy = withNames(given, names);
  let pushed: readonly PushedFilter[] = [];
  const selection = new Selection(policy, job, directory);
  const at = deps.clock.now();
  let serviceAt = at;
  const planning: Planning = {
    ...facts,
    policy,
    job,
    client,
    retry: false,
    only,
    now: at,
    at,
    onServiceNow: (serviceNow) => {
      serviceAt = serviceNow;
    },
    previousAt: job.prepare && (await previousAt(deps, policy.name, undefined)),
    earlier: () => earlierTargets(deps, policy, undefined),
    once: { results: (keys) => deps.records.once.results(policy.account, keys) },
    announcements: { all: () => deps.records.announcements.all(policy.account, policy.name) },
    findingsOf: findingsIn(deps.records, policy.account),
    looks: { last: () => lastLook(deps.records, policy.account, policy.name) },
    requestClass: 'person',
    onRequest,
    onIncomplete,
    onCandidate: selection.see,
    onParent: selection.seeParent,
    freezes: await deps.records.freeze.ofTargets(policy, deps.clock.now()),
    onPushed(filters) {
      pushed = filters;
      if (!deps.listsAll) selection.seePushed(filters);
    },
    listsAll: deps.listsAll,
    views: viewsOf(policy),
  };
  await selection.require(planning);
  const all: Planned[] = [];
  for await (const planned of candidates(planning)) all.push(planned);
  const { reading = readsNothing } = deps;
  const targets: Preview['targets'] = [];
  for (const one of all) {
    if (one.is !== 'target') continue;
    const { id, label, plan, recordSite } = one;
    const requests = await plannedRequests(job, policy, one, { reading, at, now: at });
    targets.push({
      id,
      label,
      ...defined({ plan, recordSite }),
      ...(redact(requests) as PlannedRequests),
    });
  }
  const working = all.filter((one) => one.is === 'target');
  const sites = working.map(({ recordSite }) => recordSite);
  const recording = plannedRecording(policy, sites);
  const stoppedBy = await limitExceeded(planning, all, selection);
  const warnings = await warningsOf(deps, planning, { all, selection, incomplete });
  const past = await pastCost(deps, policy);
  const estimate = costOf(job, policy, targets.length, past);
  const rollout = plannedRollout(policy, job, working);
  const checks = checksBetween(policy, rollout.batches ?? [], planningRequests);
  // Past runs had the same batches.
  const following = estimate.following + (past?.perTarget ? 0 : checks);
  const { acting } = estimate;
  const [usage, active] = await Promise.all([budget.usage(), deps.records.runs.active(policy.account)]);
  const requests = planningRequests + acting + following;
  const { othersPerMinute } = usage;
  const preview: Preview = {
    policy: policy.name,
    job: policy.job,
    list: candidatesOf(job, policy.select),
    filters: [...ownFilters(policy), ...pushed.map(({ text, ...filter }) => ({ ...filter, where: text }))],
    names: names.map(({ path, kind, name, id }) => ({ at: placeOf(path, policy), kind, name, id })),
    targets,
    ended: all.flatMap((one) =>
      one.is === 'ended' ? [{ id: one.id, label: one.label, ...outcomeFields(one.end) }] : [],
    ),
    unselected: all.flatMap((one) => (one.is === 'ended' && one.unselected ? [one.id] : [])),
    excluded: all.flatMap((one) =>
      one.is === 'excluded' ? [{ id: one.id, label: one.label, why: one.why }] : [],
    ),
    ...defined({ spreadMs: policy.schedule?.spreadMs }),
    ...(recording ? { recording } : {}),
    ...rollout,
    warnings,
    ...defined({ stoppedBy }),
    cost: {
      planning: planningRequests,
      acting,
      following,
      ...(checks === 0 ? {} : { checks }),
      pastRuns: past?.runs ?? 0,
      atLeastMs: durationOf(requests, Math.max(1, usage.limit)),
      takesMs: Math.max(
        durationOf(requests, requestsPerMinuteFor(policy, usage, active)),
        Math.round(targets.length * (past?.perTarget?.ms ?? 0)),
      ),
      runsBeside: active.filter(({ status }) => status === 'running').length,
      ...defined({ othersPerMinute }),
    },
  };
  return { preview, policy, job, names, planned: all, decidedAt: { at, serviceAt } };
}

/** Everything that a person should know before a run. */
async function warningsOf(
  deps: PlanDeps,
  planning: Planning,
  found: { all: readonly Planned[]; selection: Selection; incomplete: ReadonlyMap<string, Incomplete> },
): Promise<string[]> {
  const { policy, job, only } = planning;
  const frozen = await deps.records.freeze.over(policy, deps.clock.now());
  const size = countedTargets(found.all).length;
  const change = only ? undefined : await excessiveChange(deps, policy, job, size);
  const said = withIncomplete(await found.selection.check(planning), [...found.incomplete.values()]);
  const limit = only ? undefined : limitWarning(policy, found.all);
  return [
    ...(frozen ? [frozenWarning(frozen)] : []),
    ...(limit === undefined ? [] : [limit]),
    ...(change === undefined ? [] : [`${change} ${scheduledRunsStop}`]),
    ...said.warnings,
  ];
}

/** A run can have more targets than `select.limit`, and that is what people count. */
function limitWarning({ select: { limit } }: Policy, all: readonly Planned[]): string | undefined {
  const ended = all.filter(({ is }) => is === 'ended').length;
  const working = all.filter(({ is }) => is === 'target').length;
  if (working !== limit || ended === 0) return undefined;
  return `select.limit: the run works on ${countOf(limit, 'target')}. It also records ${ended} that came before the last of them and need no request; these do not count. Candidates after them are not looked at.`;
}

const scheduledRunsStop = 'A scheduled run stops for that, unless it waits for an approval.';

const frozenWarning = (freeze: Freeze): string =>
  `No run starts now, because ${formatFrozen(freeze)} is ${formatFreeze(freeze)}.`;

const ownFilters = ({ select }: Policy): Preview['filters'] =>
  Object.entries(select.filters).flatMap(([field, conditions]) =>
    Object.entries(conditions).map(([operator, value]) => ({ field, operator, value })),
  );

const outcomeFields = ({ is, reason, detail, findings }: End) => ({
  outcome: is === 'done' ? ('succeeded' as const) : is,
  reason,
  why: detail ?? coreReasonText(reason) ?? '',
  ...(findings ? { findings } : {}),
});

/** The targets that the limits of their number apply to. */
const countedTargets = (planned: readonly Planned[]) =>
  planned.filter((one) => one.is === 'target').filter(({ takesBack }) => !takesBack);

async function limitExceeded(
  planning: Planning,
  planned: readonly Planned[],
  { candidates: seen }: Selection,
): Promise<string | undefined> {
  const { limits } = planning.policy;
  const { maxTargets, maxPercent } = limits;
  const targets = countedTargets(planned);
  const found = targets.length;
  if (found > maxTargets) return `${found} targets are more than limits.max_targets (${maxTargets}) allows.`;
  const counts = new GroupCounts(limits);
  for (const { groups } of targets) {
    const message = counts.add(groups);
    if (message !== undefined) return message;
  }
  if (maxPercent >= 100) return undefined;
  const total = await countAll(planning, seen, toolsOf(planning));
  if (found * 100 <= maxPercent * total) return undefined;
  return `${found} of ${total} targets are more than limits.max_percent (${maxPercent}%) allows.`;
}

/** What a plan shows of the batches and the approval that a run would have. No I/O. */
interface PlannedBatch extends Pick<Batch, 'takes' | 'targets'> {
  /** Its first targets, in the order of the plan. */
  first: { id: string; label: string }[];
}

interface PlannedApproval extends Wanted {
  /** The roles and names of users that may decide. */
  by: readonly string[];
  expiresMs: number;
  separate?: true;
  eachBatch?: true;
}

interface PlannedRollout {
  /** Missing without `rollout` in the policy, and without targets. */
  batches?: PlannedBatch[];
  /** Missing when the run would need no approval. */
  approval?: PlannedApproval;
}

/** How many targets of a batch a plan names. */
const MAX_FIRST = 3;

/** The batches and the approval of a run with these targets, as `firstStep` makes them. */
function plannedRollout(
  policy: Pick<Policy, 'rollout' | 'approval' | 'options'>,
  job: AnyJob,
  targets: readonly { id: string; label: string; inBatches?: readonly number[] }[],
): PlannedRollout {
  const { rollout, approval } = policy;
  const wanted = approvalWanted(policy, job, targets.length);
  return {
    ...(rollout && targets.length > 0 ? { batches: batchesWith(rollout.batches, targets) } : {}),
    ...(wanted && approval
      ? {
          approval: {
            ...wanted,
            by: approval.by ?? ['approver', 'admin'],
            expiresMs: approval.expiresMs,
            ...(approval.separate ? { separate: true } : {}),
            ...(approval.eachBatch && rollout ? { eachBatch: true } : {}),
          },
        }
      : {}),
  };
}

function batchesWith(
  rules: NonNullable<Policy['rollout']>['batches'],
  targets: readonly { id: string; label: string; inBatches?: readonly number[] }[],
): PlannedBatch[] {
  const batchOf = assignBatches(rules, targets.length);
  const taken = Array.from({ length: rules.length + 1 }, (): { id: string; label: string }[] => []);
  for (const target of targets) taken[batchOf(target.inBatches)]?.push(target);
  const sizes = taken.map(({ length }) => length);
  return batchesOf(rules, sizes).map((batch, i) => ({
    ...batch,
    first: (taken[i] ?? []).slice(0, MAX_FIRST).map(({ id, label }) => ({ id, label })),
  }));
}
