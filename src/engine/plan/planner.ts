/**
 * The plans that this process makes, beside the queue's slots.
 *
 * An entry only begins a plan. From then on the plan belongs to this process, by a lease that runs out
 * seconds after its holder dies, and goes on page by page as the budget lets it: a plan that waits for the
 * next window holds no slot and no connection, and what it has read so far is not asked for again. The
 * supervisor puts an entry for each run without a plan now and then; those whose plan is under way somewhere
 * come to nothing.
 */
import { setMaxListeners } from 'node:events';
import type { Entry } from '../../queue/queues.ts';
import type { EngineDeps } from '../deps.ts';
import { planRun } from './plan-run.ts';

/**
 * Plans of one account that a process makes at the same time: the account's requests are what limits them
 * anyway.
 */
const PLANS_OF_AN_ACCOUNT = 20;
const LEASE_MS = 6_000;
const RENEW_INTERVAL_MS = 2_000;

export class Planner {
  /** By run. */
  private readonly underWay = new Map<string, { account: string | undefined; made: Promise<void> }>();
  private readonly stopping = new AbortController();

  constructor(private readonly deps: EngineDeps) {
    // Every plan listens to it.
    setMaxListeners(0, this.stopping.signal);
  }

  /** Begins the plan that an entry asks for, unless somebody is at it; comes back when it is on its way. */
  async begin(entry: Extract<Entry, { kind: 'plan' }>): Promise<void> {
    const { records, owner } = this.deps;
    if (this.stopping.signal.aborted || this.underWay.has(entry.run)) return;
    const run = await records.runs.get(entry.run);
    if (!run || !this.deps.serves(run.account)) return;
    const beside = [...this.underWay.values()].filter(({ account }) => account === run.account);
    if (beside.length >= PLANS_OF_AN_ACCOUNT) return;
    if (!(await records.locks.acquire(leaseOf(run.id), owner, LEASE_MS))) return;
    const made = this.make(entry).finally(() => this.underWay.delete(run.id));
    this.underWay.set(run.id, { account: run.account, made });
  }

  /** Leaves the plans under way to whoever makes them next. */
  async stop(): Promise<void> {
    this.stopping.abort();
    await Promise.all([...this.underWay.values()].map(({ made }) => made));
  }

  private async make(entry: Extract<Entry, { kind: 'plan' }>): Promise<void> {
    const { records, owner, log } = this.deps;
    const done = new AbortController();
    const renewing = this.keepLease(entry.run, done.signal);
    try {
      await planRun(this.deps, entry, this.stopping.signal);
    } catch (error) {
      log.error({ run: entry.run, err: error }, 'a plan could not be made; it is made again');
    } finally {
      done.abort();
      await renewing;
      await records.locks.release(leaseOf(entry.run), owner).catch((error: unknown) => {
        log.warn(
          { run: entry.run, err: error },
          'the lease of a plan was not given back; it runs out by itself',
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

const leaseOf = (run: string): string => `plan:${run}`;
