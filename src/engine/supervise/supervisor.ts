/**
 * The supervisor: once a second, and whenever a window of the budget ends or a sweep is due, looks after
 * every account that has runs under way.
 *
 * It follows what is in flight, hands out what is due, ends what is late, and picks up what a dead process
 * left behind. One process is an account's supervisor at a time, by a lease that runs out seconds after its
 * holder dies. Everything it does is safe to do twice, so a supervisor that was asleep too long harms
 * nothing.
 */
import { messageOf } from '../../errors.ts';
import { endedCount } from '../../run/moves.ts';
import type { Run } from '../../run/run.ts';
import type { EngineDeps } from '../deps.ts';
import { dispatch } from '../finish-run.ts';
import { Follower } from '../follow/follow.ts';
import { FIRST_PROBE_DELAY_MS, PROBE_INTERVAL_MS, probeAccount } from './block.ts';
import { supervisorLease } from './lease.ts';
import { type AccountState, maintainRun } from './maintain-run.ts';

const TICK_INTERVAL_MS = 1_000;
const LEASE_MS = 6_000;

export class Supervisor {
  private readonly accounts = new Map<string, AccountState>();
  /** The rounds under way, by account. */
  private readonly rounds = new Map<string, Promise<void>>();
  private readonly stopping = new AbortController();
  private loop: Promise<void> | undefined;
  private tickedAt: number | undefined;
  /** When this process began to plan runs, lately. */
  private readonly started = new Map<string, number>();

  constructor(private readonly deps: EngineDeps) {}

  start(): void {
    this.tickedAt ??= this.deps.clock.now();
    this.loop ??= this.run();
  }

  /** A run is planned here: when it is met among those under way, it was not begun elsewhere. */
  noteStarted(run: string): void {
    this.started.set(run, this.deps.clock.now());
  }

  /** When it last got round to its accounts; its start before the first time. */
  get lastTickAt(): number | undefined {
    return this.tickedAt;
  }

  /** Ends after the rounds under way, and gives the leases back so that others can take over at once. */
  async stop(): Promise<void> {
    this.stopping.abort();
    await this.loop;
    await Promise.all(this.rounds.values());
    const { records, owner, log } = this.deps;
    for (const account of this.accounts.keys()) {
      await records.locks.release(supervisorLease(account), owner).catch((error: unknown) => {
        log.warn({ account, err: error }, 'a lease was not given back; it runs out by itself');
      });
    }
  }

  private async run(): Promise<void> {
    const { clock, log } = this.deps;
    while (!this.stopping.signal.aborted) {
      try {
        await this.tick();
        this.tickedAt = clock.now();
      } catch (error) {
        log.warn({ err: error }, 'the supervisor could not maintain its accounts for a moment');
      }
      await clock.sleep(this.untilNextMs(), this.stopping.signal);
    }
  }

  /** How long until something is to be done: whatever waits for a window is sent at its beginning. */
  private untilNextMs(): number {
    const now = this.deps.clock.now();
    const moments = [...this.accounts.values()].flatMap(({ windowEndsAt = 0, follower }) => [
      windowEndsAt,
      ...follower.sweepsAt,
    ]);
    const coming = moments.filter((moment) => moment > now).map((moment) => moment - now);
    return Math.min(TICK_INTERVAL_MS, ...coming);
  }

  private async tick(): Promise<void> {
    const { records, owner, serves } = this.deps;
    const active = await records.runs.activeAccounts();
    await this.releaseIdleAccounts(active);
    for (const [id, at] of this.started) if (this.deps.clock.now() - at > LEASE_MS) this.started.delete(id);
    for (const account of active) {
      if (!serves(account)) continue;
      if (!(await records.locks.acquire(supervisorLease(account), owner, LEASE_MS))) {
        this.accounts.delete(account);
        continue;
      }
      const charge = this.accounts.get(account) ?? this.openAccount(account);
      // Not after the round: each moment into a window is one that it ends later.
      const { windowEndsAt } = charge;
      if (windowEndsAt !== undefined && this.deps.clock.now() >= windowEndsAt)
        charge.windowEndsAt = await dispatch(this.deps, account);
      // A round that takes longer than a tick goes on; only the lease is renewed meanwhile.
      if (this.rounds.has(account)) continue;
      const round = this.maintainAccount(account, charge)
        .then(() => records.accounts.noteSupervised(account, this.deps.clock.now()))
        .catch((error: unknown) => this.logFailure(error, account, 'an account had to wait'))
        .finally(() => this.rounds.delete(account));
      this.rounds.set(account, round);
    }
  }

  /** Gives the accounts back that have no runs any more. */
  private async releaseIdleAccounts(active: readonly string[]): Promise<void> {
    const { records, owner } = this.deps;
    for (const account of this.accounts.keys()) {
      if (active.includes(account) || this.rounds.has(account)) continue;
      this.accounts.delete(account);
      await records.locks.release(supervisorLease(account), owner);
    }
  }

  private openAccount(account: string): AccountState {
    const charge: AccountState = {
      follower: new Follower(this.deps, account, this.stopping.signal),
      probedAt: undefined,
      replans: new Map(),
    };
    this.accounts.set(account, charge);
    return charge;
  }

  private async maintainAccount(account: string, charge: AccountState): Promise<void> {
    const { records, log } = this.deps;
    const runs = await records.runs.active(account);
    for (const id of charge.replans.keys()) if (!runs.some((run) => run.id === id)) charge.replans.delete(id);
    if (!charge.known) this.logTakeover(runs);
    charge.known = true;
    if (runs.length === 0) return records.runs.retire(account);
    await this.probe(
      account,
      charge,
      runs.some(({ status }) => status === 'blocked'),
    );
    // What has ended is seen before anything is called late: nobody may have looked for hours.
    await charge.follower
      .round(runs.filter(({ status }) => status === 'running'))
      .catch((error: unknown) => this.logFailure(error, account, 'what is in flight could not be followed'));
    for (const run of runs) {
      await maintainRun(this.deps, run, runs, charge).catch((error: unknown) =>
        log.warn({ run: run.id, err: error }, `a run had to wait: ${messageOf(error)}`),
      );
    }
    charge.windowEndsAt = await dispatch(this.deps, account);
  }

  private logFailure(error: unknown, account: string, what: string): void {
    if (this.stopping.signal.aborted) return;
    this.deps.log.warn({ account, err: error }, `${what}: ${messageOf(error)}`);
  }

  private logTakeover(runs: readonly Run[]): void {
    for (const { id, status, counts } of runs) {
      if (status === 'queued' || this.started.has(id)) continue;
      const facts = { run: id, status, ended: endedCount(counts), planned: counts.planned };
      this.deps.log.info(facts, 'takes over a run that another process started');
    }
  }

  /** Asks a refused account whether it lets us in again: soon after the refusal, then once a minute. */
  private async probe(account: string, charge: AccountState, anyBlocked: boolean): Promise<void> {
    const { records, clock } = this.deps;
    const blocked = await records.accounts.blocked(account);
    if (!blocked && !anyBlocked) {
      charge.probedAt = undefined;
      return;
    }
    const first = (blocked?.since ?? 0) + FIRST_PROBE_DELAY_MS;
    if (clock.now() < (charge.probedAt === undefined ? first : charge.probedAt + PROBE_INTERVAL_MS)) return;
    charge.probedAt = clock.now();
    await probeAccount(this.deps, account, this.stopping.signal);
  }
}
