/** Firing a policy: one firing makes one run, however many processes fire it. */
import { randomBytes } from 'node:crypto';
import { CaretakerError } from '../errors.ts';
import { type Overlap, type Policy, weights } from '../policy/policy.ts';
import { type Freeze, formatFreeze } from '../records/freeze-store.ts';
import type { ScheduledTime } from '../records/ledger-store.ts';
import type { Run, Trigger } from '../run/run.ts';
import type { EngineDeps } from './deps.ts';

export interface Firing {
  trigger: Trigger;
  /**
   * The moment the firing is for, in milliseconds since 1970: the nominal one for schedules, now for people.
   */
  scheduledFor: number;
  /** Only these targets. */
  only?: string[];
  retryOf?: string;
  /** Somebody knows of the freeze and wants this run all the same. */
  ignoreFreeze?: true;
  /**
   * The how manieth backfill of the moment this is, from 1: two people who ask for the same one get one run.
   */
  attempt?: number;
}

/** Everything is frozen: no new run is made. */
export class FrozenError extends CaretakerError {
  readonly code = 'FROZEN';
  constructor(readonly freeze: Freeze) {
    super(
      `No run was started: everything is ${formatFreeze(freeze)}. "caretaker unfreeze" ends that; --ignore-freeze starts this one anyway.`,
    );
  }
}

/**
 * Makes the run of a firing and puts it on its way. A scheduled firing that has its run already gives that
 * one; one that was left out by another process meanwhile gives a run that was never made, `skipped`.
 *
 * While another run of the policy is under way, `schedule.overlap` decides: the new run is recorded as
 * `skipped`, waits `queued`, has the other one cancelled, or goes ahead.
 *
 * @throws {FrozenError} while everything is frozen.
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
  const freeze = firing.ignoreFreeze ? undefined : await records.freeze.at(now);
  if (freeze) throw new FrozenError(freeze);
  let run: Run = {
    id: idOf(policy, firing),
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
    ...(firing.retryOf ? { retryOf: firing.retryOf } : {}),
  };
  const limits = {
    concurrency: policy.limits.concurrency,
    targetMs: policy.timeout.targetMs,
    weight: weights[policy.priority],
  };
  let made = await records.runs.create(run, limits, {
    only: firing.only,
    scheduledTime: recordOf(run),
    unless: stoppedBy[overlap],
  });
  if (made === 'overlap') {
    const detail = await inTheWay(deps, run, overlap);
    run = { ...run, status: 'skipped', finishedAt: now, detail };
    made = await records.runs.create(run, limits, { scheduledTime: recordOf(run) });
  }
  if (made === 'decided') return { ...run, status: 'skipped', finishedAt: now, detail: 'It was skipped.' };
  if (made === 'exists') {
    const there = (await records.runs.get(run.id)) ?? run;
    // Whoever made it may have died before it was on its way.
    if (there.status !== 'queued') return there;
    run = there;
  }
  log.info({ run: run.id, trigger: run.trigger, status: run.status }, 'a policy fired');
  if (run.status === 'skipped') return run;
  const others = await othersOf(deps, run);
  if (overlap === 'cancel-running')
    for (const running of others) if (isOlder(running, run)) await cancel(running);
  if (turnOf(run, others, policy) !== 'wait') await deps.queues.put([{ kind: 'plan', run: run.id }]);
  return run;
}

/** Which other runs of the policy keep a firing from becoming one. */
const stoppedBy = {
  skip: 'any',
  queue: 'waiting',
  'queue-all': undefined,
  'cancel-running': undefined,
  allow: undefined,
} as const satisfies Record<Overlap, 'any' | 'waiting' | undefined>;

/** The runs of the same policy that have not ended, oldest first. */
const othersOf = async ({ records }: EngineDeps, { id, account, policy }: Run): Promise<Run[]> =>
  (await records.runs.active(account)).filter((run) => run.policy === policy && run.id !== id);

async function inTheWay(deps: EngineDeps, run: Run, overlap: Overlap): Promise<string> {
  const others = await othersOf(deps, run);
  if (overlap === 'skip')
    return `The run ${others[0]?.id ?? 'before it'} was still under way (schedule.overlap: skip).`;
  const waits = others.findLast(({ status }) => status === 'queued')?.id ?? 'before it';
  return `The run ${waits} was already waiting for its turn, and one may wait (schedule.overlap: queue).`;
}

/** The ledger's record of the scheduled time; manual runs have none. */
function recordOf(run: Run): ScheduledTime | undefined {
  if (run.trigger === 'manual' || run.trigger === 'retry') return undefined;
  const record = { scheduledFor: run.scheduledFor, at: run.createdAt, run: run.id };
  if (run.status !== 'skipped') return { ...record, is: 'ran' };
  return { ...record, is: 'skipped', why: 'overlap', ...(run.detail ? { note: run.detail } : {}) };
}

/** What a queued run is to do now. */
export type Turn = 'start' | 'wait' | 'skip';

/**
 * Whose turn it is, given the account's active runs: unless runs may overlap, one at a time. Those that wait
 * go by age; one that has begun is ahead of them all, even of an older one whose maker was held up.
 */
export function turnOf(run: Run, active: readonly Run[], policy: Policy): Turn {
  const overlap = policy.schedule?.overlap ?? 'skip';
  if (overlap === 'allow') return 'start';
  const others = active.filter((other) => other.policy === run.policy && other.id !== run.id);
  if (!others.some((other) => other.status !== 'queued' || isOlder(other, run))) return 'start';
  return overlap === 'skip' ? 'skip' : 'wait';
}

const isOlder = (a: Run, b: Run): boolean =>
  a.createdAt < b.createdAt || (a.createdAt === b.createdAt && a.id < b.id);

/** Policy and moment; what people fire by hand may be several in a minute and gets a few letters more. */
function idOf(policy: Policy, { trigger, scheduledFor, attempt = 1 }: Firing): string {
  const moment = `${new Date(scheduledFor).toISOString().replace(/[-:]|\.\d+/g, '')}`;
  return `${policy.name}.${moment}${endings[trigger](attempt)}`;
}

const byHand = () => `-${randomBytes(2).toString('hex')}`;
const endings: Record<Trigger, (attempt: number) => string> = {
  schedule: () => '',
  'catch-up': () => '',
  backfill: (attempt) => (attempt > 1 ? `-backfill${attempt}` : '-backfill'),
  manual: byHand,
  retry: byHand,
};
