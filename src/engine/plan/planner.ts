/**
 * Makes plans in this process, outside the queue's slots.
 *
 * An entry only starts a plan, or lets it wait until another one of its account is made. Then this process holds
 * the plan by a lease, which expires seconds after the process dies, and continues it page by page as the budget
 * allows. A plan that waits for the next window holds no slot and no connection. From time to time the supervisor
 * queues an entry for each run without a plan. An entry whose plan is in progress in any process does nothing.
 */
import { setMaxListeners } from 'node:events';
import { AccountRefusedError, UnavailableError } from '../../client/errors.ts';
import { IncompleteListError } from '../../client/pages.ts';
import { ContractError } from '../../contract/answers.ts';
import { AccountMovedError } from '../../contract/service-address.ts';
import { CaretakerError, messageOf } from '../../errors.ts';
import { jobOf } from '../../policy/policy-job.ts';
import type { Entry, Report } from '../../queue/entry.ts';
import type { Run } from '../../run/run.ts';
import { isWindowOver } from '../deadline.ts';
import { type EngineDeps, policyOf, Spending, serves } from '../deps.ts';
import { concludeRun } from '../finish-run.ts';
import { decideOverlap } from '../fire.ts';
import { blockAccount } from '../supervise/block.ts';
import { earlierPlanOf, PlanBuilder } from './plan-builder.ts';
import { planningOf } from './planning-of-run.ts';
import { withIncomplete } from './selection.ts';

// Makes the plan of a run, then starts the run.
//
// When planning is interrupted, the next attempt continues where the last one stopped: see `plan-builder.ts`. When it
// runs twice at once, only the latest attempt can add to the plan.

const skippedDetail = { detail: 'Another run of the policy was active (schedule.overlap: skip).' };

const nothingSaid = { warnings: [], remarks: [] };

/** How often planning may fail with an unexpected error before the run fails. */
const MAX_UNEXPECTED_FAILURES = 3;

/**
 * Plans a run that is queued and may start, or whose planning was interrupted. Does nothing for any other
 * run. When `stopping` aborts, another process makes the plan later.
 */
export async function planRun(
  deps: EngineDeps,
  entry: Extract<Entry, { kind: 'plan' }>,
  stopping: AbortSignal,
): Promise<void> {
  const { records } = deps;
  const run = await records.runs.get(entry.run);
  if (!run || run.ending || run.held || !serves(deps, run)) return;
  const job = jobOf(deps.registry, policyOf(run));
  // A newer process may know the job and make the plan. The supervisor fails the run when none does.
  if (!job || !(await startPlanning(deps, run))) return;
  // The supervisor ends it.
  if (isWindowOver(run, deps.clock.now())) return;
  const continued = await records.plans.continue(run.id);
  const planFence = continued?.fence ?? (await records.plans.begin(run.id));
  if (planFence === 0) return;
  try {
    const only = await records.runs.only(run.id);
    const spent = new Spending();
    const planning = await planningOf(deps, run, { only, spent, signal: stopping });
    const earlierPlan = continued && planning && (await earlierPlanOf(deps, run, planning, continued));
    if (planning)
      await new PlanBuilder(deps, { ...run, status: 'planning' as const }, planning, spent, {
        fence: planFence,
        continued,
        earlierPlan,
      }).build();
  } catch (error) {
    if (!stopping.aborted) await failed(deps, run, planFence, error);
  }
}

/** Moves a queued run that may start to `planning`. True when the run is to be planned now. */
async function startPlanning(deps: EngineDeps, run: Run): Promise<boolean> {
  const { records, clock } = deps;
  if (run.status === 'planning') return true;
  if (run.status !== 'queued') return false;
  const policy = policyOf(run);
  // Decided again here: two firings at the same time may each have seen no other run.
  const turn = decideOverlap(run, await records.runs.active(run.account, { policy: run.policy }), policy);
  if (turn === 'start') {
    const at = clock.now();
    return records.runs.move(run, 'planning', { at, deadline: at + policy.timeout.runMs });
  }
  if (turn === 'skip') await concludeRun(deps, run, 'skipped', skippedDetail);
  return false;
}

/** Handles an error while planning: planning is retried when that may help, else the run fails. */
async function failed(deps: EngineDeps, run: Run, planFence: number, error: unknown): Promise<void> {
  const { records, log } = deps;
  if (error instanceof AccountRefusedError) return blockAccount(deps, run.account, error);
  // A process with the address that the account's records belong to makes the plan.
  if (error instanceof AccountMovedError) return;
  if (error instanceof UnavailableError) {
    // The service is unavailable. The run keeps its status and shows why; the supervisor retries planning.
    await records.runs.note(run.id, messageOf(error));
    log.warn({ run: run.id }, messageOf(error));
    return;
  }
  const unexpected = !(error instanceof CaretakerError);
  if (unexpected) log.error({ run: run.id, err: error }, 'a plan failed unexpectedly');
  const mayRetry = unexpected || error instanceof ContractError;
  const attempts = unexpected ? MAX_UNEXPECTED_FAILURES : policyOf(run).retry.attempts;
  if (mayRetry && (await records.plans.countFailure(run.id)) < attempts) {
    if (!unexpected) log.warn({ run: run.id }, `planning is retried: ${messageOf(error)}`);
    return records.runs.note(run.id, messageOf(error));
  }
  // So that `doctor` shows it, too.
  if (error instanceof IncompleteListError)
    await records.planned.noteRemarks(run.id, withIncomplete(nothingSaid, [error.incomplete]).remarks);
  await concludeRun(deps, run, 'failed', { detail: `Planning failed: ${messageOf(error)}`, planFence });
}

/**
 * How many plans of one account a process makes at the same time. More would not be faster: the account's
 * budget limits them.
 */
const MAX_PLANS_PER_ACCOUNT = 20;
const LEASE_MS = 6_000;
const RENEW_INTERVAL_MS = 2_000;

type PlanEntry = Extract<Entry, { kind: 'plan' }>;

export class Planner {
  /** By run. */
  private readonly plans = new Map<string, { account: string | undefined; made: Promise<void> }>();
  /** Entries that start when another plan of their account is made, by run. They are lost with the process. */
  private readonly waiting = new Map<string, { account: string; entry: PlanEntry }>();
  /** Resolves when no waiting plan is being started. */
  private beginning: Promise<void> = Promise.resolve();
  private readonly stopping = new AbortController();

  constructor(private readonly deps: EngineDeps) {
    // Every plan adds a listener.
    setMaxListeners(0, this.stopping.signal);
  }

  /**
   * Starts the plan of an entry, unless a process is making it already. Resolves when the plan has started, or
   * with why it has not.
   */
  async begin(entry: PlanEntry): Promise<Report> {
    const { records, owner } = this.deps;
    if (this.stopping.signal.aborted) return notStarted('This process is stopping.');
    if (this.plans.has(entry.run)) return notStarted('This process is making the plan already.');
    const run = await records.runs.get(entry.run);
    if (!run) return notStarted('The run is not stored any more.');
    if (!serves(this.deps, run))
      return notStarted(
        `This process has no configuration for the account ${run.account}${run.address === undefined ? '' : ` at ${run.address}`}.`,
      );
    const beside = [...this.plans.values()].filter(({ account }) => account === run.account);
    if (beside.length >= MAX_PLANS_PER_ACCOUNT) {
      this.waiting.set(run.id, { account: run.account, entry });
      return notStarted(
        `This process makes ${MAX_PLANS_PER_ACCOUNT} plans of the account ${run.account} already. This one starts after them.`,
      );
    }
    if (!(await records.locks.acquire(leaseOf(run.id), owner, LEASE_MS)))
      return notStarted('Another process is making the plan.');
    if (this.stopping.signal.aborted) {
      await records.locks.release(leaseOf(run.id), owner);
      return notStarted('This process is stopping.');
    }
    const made = this.make(entry).finally(() => {
      this.plans.delete(run.id);
      this.beginning = this.beginning.then(() => this.beginNext(run.account));
    });
    this.plans.set(run.id, { account: run.account, made });
    return {
      result: { plan: 'started', account: run.account },
      log: [`The plan of ${run.id} was started for the account ${run.account}. Its result is in the run.`],
    };
  }

  /** Starts a waiting plan of the account. */
  private async beginNext(account: string): Promise<void> {
    for (const [run, { account: itsAccount, entry }] of this.waiting) {
      if (itsAccount !== account) continue;
      this.waiting.delete(run);
      try {
        await this.begin(entry);
      } catch (error) {
        this.deps.log.warn(
          { run, err: error },
          'a plan could not be started; the supervisor queues it again',
        );
      }
      // It was started, or waits again behind another one. Otherwise another process has made it meanwhile.
      if (this.plans.has(run) || this.waiting.has(run)) return;
    }
  }

  /** Stops the plans in progress. Other processes make them later. */
  async stop(): Promise<void> {
    this.stopping.abort();
    await Promise.all([...this.plans.values()].map(({ made }) => made));
    await this.beginning;
  }

  private async make(entry: PlanEntry): Promise<void> {
    const { records, owner, log } = this.deps;
    const done = new AbortController();
    const renewing = this.keepLease(entry.run, done.signal);
    try {
      await planRun(this.deps, entry, this.stopping.signal);
    } catch (error) {
      log.error({ run: entry.run, err: error }, 'a plan could not be made; it is retried');
    } finally {
      done.abort();
      await renewing;
      await records.locks.release(leaseOf(entry.run), owner).catch((error: unknown) => {
        log.warn(
          { run: entry.run, err: error },
          'the lease of a plan could not be released; it expires by itself',
        );
      });
    }
  }

  private async keepLease(run: string, done: AbortSignal): Promise<void> {
    const { clock, records, owner, log } = this.deps;
    while (!done.aborted) {
      await clock.sleep(RENEW_INTERVAL_MS, done);
      if (done.aborted) return;
      await records.locks
        .acquire(leaseOf(run), owner, LEASE_MS)
        .catch((error: unknown) => log.warn({ run, err: error }, 'the lease of a plan could not be renewed'));
    }
  }
}

const notStarted = (why: string): Report => ({ result: { plan: 'not started' }, log: [why] });

const leaseOf = (run: string): string => `plan:${run}`;
