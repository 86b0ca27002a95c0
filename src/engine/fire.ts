/** Firing a policy: one firing makes one run, however many processes fire it. */
import { createHash, randomBytes } from 'node:crypto';
import { AccountMovedError } from '../contract/service-address.ts';
import { CaretakerError } from '../errors.ts';
import { type Overlap, type Policy, weights } from '../policy/policy.ts';
import { type Freeze, formatFreeze, formatFrozen, unfreezeCommand } from '../records/freeze-store.ts';
import type { ScheduledTime } from '../records/ledger-store.ts';
import type { RunLimits } from '../records/run-scripts.ts';
import type { Run, Trigger } from '../run/run.ts';
import { needsFacts } from './act/verifier.ts';
import { timesOf } from './deadline.ts';
import { type EngineDeps, noticeFor } from './deps.ts';
import { SavedPlanError } from './plan/saved-plan.ts';

export interface Firing {
  trigger: Trigger;
  /**
   * The time that the firing is for, in milliseconds since 1970: the scheduled time, or now for a person's
   * run.
   */
  scheduledFor: number;
  /** Only these targets. */
  only?: string[];
  retryOf?: string;
  /** When a retry was requested: it is named after that time, and is about the time of the first run. */
  requestedAt?: number;
  /** The run whose end starts this one (`schedule.after`); `scheduledFor` is the time of that end. */
  afterRun?: string;
  /** See `Run.keepsFacts`. */
  keepsFacts?: true;
  /** The saved plan that the run applies, and the id of the run that does. */
  applies?: { run: string } & Required<Pick<Run, 'planHash' | 'decidedAt' | 'names'>>;
  /** A person knows about the freeze and wants this run anyway. */
  ignoreFreeze?: true;
  /**
   * The number of this backfill of the scheduled time, from 1. Two people who request the same number get one
   * run.
   */
  attempt?: number;
  /** Who requested it. */
  startedBy?: NonNullable<Run['startedBy']>;
  /**
   * The act that requested it. Two firings of one act for the same time get one run; without an act each manual
   * firing and retry gets its own.
   */
  act?: string;
}

/** Everything is frozen, or the account or the job of the policy: no new run is created. */
export class FrozenError extends CaretakerError {
  readonly code = 'FROZEN';
  constructor(readonly freeze: Freeze) {
    super(
      `No run was started: ${formatFrozen(freeze)} is ${formatFreeze(freeze)}. "${unfreezeCommand(freeze)}" ends that; --ignore-freeze starts this one anyway.`,
    );
  }
}

/**
 * Creates the run of a firing and queues its plan. A firing that already has a run returns that run. A
 * scheduled firing that another process has skipped meanwhile returns a `skipped` run that is not stored.
 *
 * While another run of the policy is active, `schedule.overlap` decides: the new run is recorded as
 * `skipped`, waits as `queued`, cancels the other run, or starts beside it.
 *
 * @throws {FrozenError} while everything is frozen, or the account or the job.
 * @throws {AccountMovedError} when the account's records belong to another service.
 */
export async function fire(
  deps: EngineDeps,
  policy: Policy,
  firing: Firing,
  cancel: (run: Run) => Promise<void>,
): Promise<Run> {
  const { records, clock, log } = deps;
  const overlap = policy.schedule?.overlap ?? 'skip';
  const now = clock.now();
  // A daemon records them ahead; it may have begun just now, or none may run.
  await deps.noteMaintenance?.();
  if (!firing.ignoreFreeze) await refuseWhileFrozen(deps, policy, now);
  let run = {
    ...runOf(policy, firing, now, needsFacts(policy, deps.registry)),
    ...serviceOf(deps, policy),
  };
  const limits = {
    concurrency: policy.limits.concurrency,
    perClient: policy.limits.perClient?.concurrency,
    perTag: policy.limits.perTag?.concurrency,
    targetMs: policy.timeout.targetMs,
    weight: weights[policy.priority],
    ...(policy.record && { record: recordOf(policy.record, deps) }),
  };
  let created = await records.runs.create(run, limits, {
    only: firing.only,
    scheduledTime: ledgerRecordOf(run),
    unless: conflictingRuns[overlap],
  });
  if (created === 'moved') throw await movedError(deps, run);
  if (created === 'overlap') {
    const detail = await overlapDetail(deps, run, overlap);
    // A plan makes one run: it is not used up by one that does nothing.
    if (firing.applies) throw new SavedPlanError(`The plan was not applied: ${detail}`);
    run = { ...run, status: 'skipped', finishedAt: now, detail };
    const notice = noticeFor(policy, { type: 'run', run: run.id, at: now, status: 'skipped' });
    created = await records.runs.create(run, limits, { scheduledTime: ledgerRecordOf(run), notice });
  }
  if (created === 'decided') return { ...run, status: 'skipped', finishedAt: now, detail: 'It was skipped.' };
  if (created === 'exists') {
    const existing = (await records.runs.get(run.id)) ?? run;
    // The process that created it may have died before it queued the plan.
    if (existing.status !== 'queued') return existing;
    run = existing;
  }
  log.info({ run: run.id, trigger: run.trigger, status: run.status }, 'a policy fired');
  if (run.status === 'skipped') return run;
  const others = await otherActiveRuns(deps, run);
  if (overlap === 'cancel-running')
    for (const running of others) if (isOlder(running, run)) await cancel(running);
  if (decideOverlap(run, others, policy) !== 'wait') await deps.queues.put([{ kind: 'plan', run: run.id }]);
  return run;
}

const originOf = ({
  retryOf,
  afterRun,
  startedBy,
}: Firing): Pick<Run, 'retryOf' | 'afterRun' | 'startedBy'> => ({
  ...(retryOf ? { retryOf } : {}),
  ...(afterRun ? { afterRun } : {}),
  ...(startedBy ? { startedBy } : {}),
});

/** The run of a firing, before anything is known of other runs. */
const runOf = (policy: Policy, firing: Firing, now: number, keepsFacts: boolean): Run => ({
  id: firing.applies?.run ?? runIdOf(policy, firing),
  policy: policy.name,
  job: policy.job,
  account: policy.account,
  status: 'queued',
  trigger: firing.trigger,
  scheduledFor: firing.scheduledFor,
  createdAt: now,
  requests: 0,
  counts: { planned: 0, succeeded: 0, failed: 0, skipped: 0, cancelled: 0 },
  policyJson: JSON.stringify(policy),
  policyHash: policy.hash,
  ...originOf(firing),
  ...appliedBy(firing),
  ...timesOf(policy, firing),
  ...(keepsFacts || firing.keepsFacts || policy.approval || policy.rollout
    ? { keepsFacts: true as const }
    : {}),
  ...(firing.ignoreFreeze ? { ignoresFreezes: true as const } : {}),
});

/** The service with which this process is configured; nothing when it has no configuration for the account. */
function serviceOf({ addressOf }: EngineDeps, { account }: Policy): Pick<Run, 'address'> {
  const address = addressOf(account);
  return address === undefined ? {} : { address };
}

async function movedError(
  { records }: EngineDeps,
  { account, address = '' }: Run,
): Promise<AccountMovedError> {
  return new AccountMovedError(account, address, (await records.accounts.addressOf(account)) ?? '');
}

const appliedBy = ({ applies }: Firing): Partial<Pick<Run, 'planHash' | 'decidedAt' | 'names'>> => {
  if (!applies) return {};
  const { run: _id, ...plan } = applies;
  return plan;
};

const recordOf = (
  { customWork, note }: NonNullable<Policy['record']>,
  { registry }: EngineDeps,
): NonNullable<RunLimits['record']> => ({
  work: customWork !== undefined,
  note: note !== undefined,
  not: [...registry.reasons].flatMap(([reason, { withoutChange }]) => (withoutChange ? [reason] : [])),
});

async function refuseWhileFrozen({ records }: EngineDeps, policy: Policy, now: number): Promise<void> {
  const freeze = await records.freeze.over(policy, now);
  if (freeze) throw new FrozenError(freeze);
}

/** Which other runs of the policy make `create` refuse a new run, for each overlap policy. */
const conflictingRuns = {
  skip: 'any',
  queue: 'waiting',
  'queue-all': undefined,
  'cancel-running': undefined,
  allow: undefined,
} as const satisfies Record<Overlap, 'any' | 'waiting' | undefined>;

/** The runs of the same policy that have not ended, oldest first. */
const otherActiveRuns = async ({ records }: EngineDeps, { id, account, policy }: Run): Promise<Run[]> =>
  (await records.runs.active(account, { policy })).filter((run) => run.id !== id);

async function overlapDetail(deps: EngineDeps, run: Run, overlap: Overlap): Promise<string> {
  const others = await otherActiveRuns(deps, run);
  if (overlap === 'skip')
    return `The run ${others[0]?.id ?? 'before it'} was still active (schedule.overlap: skip).`;
  const waits = others.findLast(({ status }) => status === 'queued')?.id ?? 'before it';
  return `The run ${waits} was already queued, and only one run may be queued (schedule.overlap: queue).`;
}

/** The ledger's record of the scheduled time; manual runs have none. */
function ledgerRecordOf(run: Run): ScheduledTime | undefined {
  if (run.trigger === 'manual' || run.trigger === 'retry') return undefined;
  const after = run.afterRun === undefined ? {} : { after: run.afterRun };
  const record = { scheduledFor: run.scheduledFor, at: run.createdAt, run: run.id, ...after };
  if (run.status !== 'skipped') return { ...record, is: 'ran' };
  return { ...record, is: 'skipped', why: 'overlap', ...(run.detail ? { note: run.detail } : {}) };
}

/** What a queued run does next. */
export type OverlapDecision = 'start' | 'wait' | 'skip';

/**
 * Decides whether a queued run may start, given the account's active runs. Unless runs may overlap, one run
 * is active at a time, and queued runs start in order of age. A run that has started comes first, even before
 * an older one whose process was slow to queue it.
 */
export function decideOverlap(run: Run, active: readonly Run[], policy: Policy): OverlapDecision {
  const overlap = policy.schedule?.overlap ?? 'skip';
  if (overlap === 'allow') return 'start';
  const others = active.filter((other) => other.policy === run.policy && other.id !== run.id);
  if (!others.some((other) => other.status !== 'queued' || isOlder(other, run))) return 'start';
  return overlap === 'skip' ? 'skip' : 'wait';
}

const isOlder = (a: Run, b: Run): boolean =>
  a.createdAt < b.createdAt || (a.createdAt === b.createdAt && a.id < b.id);

/**
 * Policy and scheduled time; of a retry, when it was requested. A person may start several runs in a minute, so these
 * get a random suffix. Several runs may end in one second, and each may start another run, so these get the
 * milliseconds.
 */
function runIdOf(
  policy: Policy,
  { trigger, scheduledFor, requestedAt, afterRun, ...firing }: Firing,
): string {
  const time = `${new Date(requestedAt ?? scheduledFor).toISOString().replace(/[-:]|\.\d+/g, '')}`;
  const exact = afterRun === undefined ? '' : `-${String(scheduledFor % 1_000).padStart(3, '0')}`;
  return `${policy.name}.${time}${exact}${idSuffixes[trigger](firing)}`;
}

const suffixOfAct = ({ act }: Pick<Firing, 'act'>) =>
  `-${(act === undefined ? randomBytes(2) : createHash('sha256').update(act).digest()).toString('hex').slice(0, 4)}`;
const idSuffixes: Record<Trigger, (firing: Pick<Firing, 'attempt' | 'act'>) => string> = {
  schedule: () => '',
  'catch-up': () => '',
  after: () => '',
  backfill: ({ attempt = 1 }) => (attempt > 1 ? `-backfill${attempt}` : '-backfill'),
  manual: suffixOfAct,
  retry: suffixOfAct,
};
