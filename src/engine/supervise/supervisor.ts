/**
 * The supervisor maintains every account with active runs: once a second, and whenever a window of the budget
 * ends or a sweep is due. While no account has any, it rests until a run begins.
 *
 * It follows work in flight, releases targets that are due, ends what is late, and recovers what a dead
 * process left. One process at a time supervises an account, by a lease that expires seconds after its holder
 * dies. Everything it does is safe to do twice, so a supervisor that was suspended beyond its lease does no
 * harm.
 */
import { type Rest, restOf } from '../../clock.ts';
import { AccountMovedError } from '../../contract/service-address.ts';
import { messageOf } from '../../errors.ts';
import { supervisorLease } from '../../records/lock-store.ts';
import { JUMP_MS } from '../../redis/clock.ts';
import { endedCount } from '../../run/moves.ts';
import type { Run } from '../../run/run.ts';
import type { EngineDeps } from '../deps.ts';
import { dispatch } from '../finish-run.ts';
import { Follower } from '../follow/follow.ts';
import { Gates } from '../rollout/gates.ts';
import { FIRST_PROBE_DELAY_MS, PROBE_INTERVAL_MS, probeAccount } from './block.ts';
import { type AccountState, maintainRun } from './maintain-run.ts';

const TICK_INTERVAL_MS = 1_000;
/** While there is no active run. An event that a run begins may be lost with a connection. */
const IDLE_INTERVAL_MS = 5_000;
const LEASE_MS = 6_000;

export class Supervisor {
  private readonly accounts = new Map<string, AccountState>();
  /** The rounds in progress, by account. */
  private readonly rounds = new Map<string, Promise<void>>();
  private readonly stopping = new AbortController();
  private readonly rest: Rest;
  private isIdle = false;
  private loop: Promise<void> | undefined;
  private tickedAt: number | undefined;
  /** When this process started planning a run, for recent runs. */
  private readonly started = new Map<string, number>();

  constructor(private readonly deps: EngineDeps) {
    this.rest = restOf(deps.clock, this.stopping.signal);
  }

  start(): void {
    this.tickedAt ??= this.deps.clock.now();
    this.loop ??= this.run();
  }

  /** A run may have begun. */
  wake(): void {
    this.rest.wake();
  }

  /** Notes that this process plans a run, so that the run is not logged as taken over. */
  noteStarted(run: string): void {
    this.started.set(run, this.deps.clock.now());
  }

  /** When the last tick ended; the time of the start before the first tick. */
  get lastTickAt(): number | undefined {
    return this.tickedAt;
  }

  /**
   * Waits for the rounds in progress, then releases the leases, so that other processes can take over at
   * once.
   */
  async stop(): Promise<void> {
    this.stopping.abort();
    await this.loop;
    await Promise.all(this.rounds.values());
    await Promise.all([...this.accounts.values()].map(({ gates }) => gates.idle()));
    const { records, owner, log } = this.deps;
    for (const account of this.accounts.keys()) {
      await records.locks.release(supervisorLease(account), owner).catch((error: unknown) => {
        log.warn(
          { account, err: error },
          'the lease of an account could not be released; it expires by itself',
        );
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
        log.warn({ err: error }, 'the supervisor could not maintain its accounts; the next tick tries again');
      }
      const untilNextMs = this.untilNextMs();
      await this.rest.for(this.isIdle ? IDLE_INTERVAL_MS : untilNextMs, untilNextMs);
    }
  }

  /**
   * How long until the next tick. It may be less than a second, so that requests which wait for a window are
   * sent at its beginning.
   */
  private untilNextMs(): number {
    const now = this.deps.clock.now();
    const dueTimes = [...this.accounts.values()].flatMap(({ windowEndsAt = 0, follower }) => [
      windowEndsAt,
      ...follower.sweepsAt,
    ]);
    const upcoming = dueTimes.filter((moment) => moment > now).map((moment) => moment - now);
    return Math.min(TICK_INTERVAL_MS, ...upcoming);
  }

  private async tick(): Promise<void> {
    const { records } = this.deps;
    const active = await records.runs.activeAccounts();
    await this.releaseIdleAccounts(active);
    this.isIdle = active.length === 0 && this.accounts.size === 0;
    for (const [id, at] of this.started) if (this.deps.clock.now() - at > LEASE_MS) this.started.delete(id);
    for (const account of active) {
      const address = this.deps.addressOf(account);
      if (address === undefined) continue;
      if (!(await this.acquire(account, address))) {
        this.accounts.delete(account);
        await this.takeBackOwn(account);
        continue;
      }
      const state = this.accounts.get(account) ?? this.openAccount(account);
      // Before the round: a window that starts late also ends late.
      const { windowEndsAt } = state;
      if (windowEndsAt !== undefined && this.deps.clock.now() >= windowEndsAt)
        state.windowEndsAt = await dispatch(this.deps, account);
      // A round that takes longer than a tick continues; only the lease is renewed meanwhile.
      if (this.rounds.has(account)) continue;
      const round = this.maintainAccount(account, state)
        .then(() => records.accounts.noteSupervised(account, this.deps.clock.now()))
        .catch((error: unknown) => this.logFailure(error, account, 'an account could not be maintained'))
        .finally(() => this.rounds.delete(account));
      this.rounds.set(account, round);
    }
  }

  /** Acquires or renews the lease. An account whose records belong to another service is left alone. */
  private async acquire(account: string, address: string): Promise<boolean> {
    const { records, owner } = this.deps;
    const lease = { name: supervisorLease(account), owner, ttlMs: LEASE_MS };
    try {
      return await records.accounts.supervise({ account, address }, lease);
    } catch (error) {
      if (error instanceof AccountMovedError) return false;
      throw error;
    }
  }

  /** Releases the leases of accounts without active runs. */
  private async releaseIdleAccounts(active: readonly string[]): Promise<void> {
    const { records, owner } = this.deps;
    for (const account of this.accounts.keys()) {
      if (active.includes(account) || this.rounds.has(account)) continue;
      this.accounts.delete(account);
      await records.locks.release(supervisorLease(account), owner);
    }
  }

  private openAccount(account: string): AccountState {
    const state: AccountState = {
      gates: new Gates(this.deps, this.stopping.signal),
      follower: new Follower(this.deps, account, this.stopping.signal),
      probedAt: undefined,
      predictedAt: new Map(),
      replans: new Map(),
    };
    this.accounts.set(account, state);
    return state;
  }

  private async maintainAccount(account: string, state: AccountState): Promise<void> {
    const { records, log } = this.deps;
    const runs = await records.runs.active(account);
    for (const id of state.predictedAt.keys())
      if (!runs.some((run) => run.id === id)) state.predictedAt.delete(id);
    for (const id of state.replans.keys()) if (!runs.some((run) => run.id === id)) state.replans.delete(id);
    if (!state.maintained) this.logTakeover(runs);
    state.maintained = true;
    if (runs.length === 0) return records.runs.retire(account);
    await this.takeBack(account, state, runs);
    await this.probe(
      account,
      state,
      runs.some(({ status }) => status === 'blocked'),
    );
    // The sweep comes before time limits are checked: work may have ended in time although nothing has looked
    // for hours.
    await state.follower
      .round(runs.filter(({ status }) => status === 'running'))
      .catch((error: unknown) => this.logFailure(error, account, 'work in flight could not be followed'));
    for (const run of runs) {
      await maintainRun(this.deps, run, runs, state).catch((error: unknown) =>
        log.warn({ run: run.id, err: error }, `a run could not be maintained: ${messageOf(error)}`),
      );
    }
    state.windowEndsAt = await dispatch(this.deps, account);
  }

  /**
   * The account was maintained, or one of its runs was planned, at a later time than now: the clock went back, and
   * nothing waits for that time. The first entries of a run are made when it is planned, which may be before the account
   * is maintained for the first time.
   */
  private async takeBack(account: string, state: AccountState, runs: readonly Run[]): Promise<void> {
    const { records, clock } = this.deps;
    const now = clock.now();
    const before =
      state.maintainedAt ??
      Math.max(
        (await records.accounts.supervisedAtOf(account)) ?? now,
        ...runs.map(({ startedAt = now }) => startedAt),
      );
    state.maintainedAt = now;
    if (before - now < JUMP_MS) return;
    for (const { id } of runs) await records.targets.takeBack(id, { now, before });
    state.follower = new Follower(this.deps, account, this.stopping.signal);
    Object.assign(state, { probedAt: undefined, windowEndsAt: undefined });
    state.predictedAt.clear();
    state.replans.clear();
  }

  /** The supervisor may have noticed sooner that the clock went back: this process wrote times meanwhile. */
  private async takeBackOwn(account: string): Promise<void> {
    const { records, clock } = this.deps;
    const now = clock.now();
    const before = this.tickedAt ?? now;
    if (before - now < JUMP_MS) return;
    for (const { id } of await records.runs.active(account))
      await records.targets.takeBack(id, { now, before });
  }

  private logFailure(error: unknown, account: string, what: string): void {
    if (this.stopping.signal.aborted) return;
    this.deps.log.warn({ account, err: error }, `${what}: ${messageOf(error)}`);
  }

  private logTakeover(runs: readonly Run[]): void {
    for (const { id, status, counts } of runs) {
      if (status === 'queued' || this.started.has(id)) continue;
      const facts = { run: id, status, ended: endedCount(counts), planned: counts.planned };
      this.deps.log.info(facts, 'took over a run that another process started');
    }
  }

  /** Probes a blocked account: soon after the refusal, then once a minute. */
  private async probe(account: string, state: AccountState, anyBlocked: boolean): Promise<void> {
    const { records, clock } = this.deps;
    const blocked = await records.accounts.blocked(account);
    if (!blocked && !anyBlocked) {
      state.probedAt = undefined;
      return;
    }
    const now = clock.now();
    // A refusal of before the clock went back is not of just now.
    const first = blocked && blocked.since <= now ? blocked.since + FIRST_PROBE_DELAY_MS : now;
    if (now < (state.probedAt === undefined ? first : state.probedAt + PROBE_INTERVAL_MS)) return;
    state.probedAt = now;
    await probeAccount(this.deps, account, this.stopping.signal);
  }
}
