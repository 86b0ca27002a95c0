/**
 * Handles the entries of this process. Does once what many targets have in common.
 *
 * The fixed fields of a run are read once. The follow-up work for changed targets is done outside the queue's
 * slots, in one round after the other. Each round covers all targets that changed since the round before. So
 * a slot takes its next entry at once, and with fifty busy slots one round serves many targets. If a round is
 * lost, the supervisor does its work.
 */
import { setMaxListeners } from 'node:events';
import { defined } from '../../defined.ts';
import type { Entry, Report } from '../../queue/entry.ts';
import type { Dispatched } from '../../records/target-types.ts';
import { type EngineDeps, policyOf, RunCache } from '../deps.ts';
import { afterTargets, type Moved } from '../finish-run.ts';
import { contextTimeOf } from '../plan/planning-of-run.ts';
import { type ActingRun, act } from './act.ts';
import { Claims } from './ownership.ts';
import { type Acted, reportActed, reportUnknownRun } from './report-act.ts';
import { Verifier } from './verifier.ts';

export class Actor {
  private readonly runs: RunCache<ActingRun>;
  /** Targets that changed and still wait for a round, by account. */
  private readonly moved = new Map<string, Moved[]>();
  private readonly rounds = new Map<string, Promise<void>>();

  private readonly stopping = new AbortController();
  private readonly claims: Claims;
  private readonly verifier: Verifier;

  private readonly slots: Slots;

  constructor(
    private readonly deps: EngineDeps,
    slots: number,
  ) {
    this.slots = new Slots(slots);
    this.claims = new Claims(deps.clock);
    this.verifier = new Verifier(deps, this.stopping.signal);
    this.runs = new RunCache(deps.records, (run) => {
      const { id, account, address, job, planHash } = run;
      const isPlanned = planHash !== undefined;
      const service = address === undefined ? {} : { address };
      const times = { at: contextTimeOf(run), ...defined({ windowEndsAt: run.windowEndsAt }) };
      return { id, account, ...service, job, isPlanned, ...times, policy: policyOf(run) };
    });
    // Every request adds a listener.
    setMaxListeners(0, this.stopping.signal);
  }

  /** Stops waiting for answers. The next worker on each target reconciles its request. */
  stopWaiting(): void {
    this.stopping.abort();
  }

  /** Claims no more targets. Those of entries that it has are found unclaimed, and queued again. */
  claimNoMore(): void {
    this.slots.close();
  }

  /**
   * Acts on each target of an entry, as slots become free; see `act`. Resolves when all are done.
   *
   * @throws the first error of a target, after all are done.
   */
  async act(entry: Extract<Entry, { kind: 'act' }>): Promise<Report> {
    const run = await this.runs.get(entry.run);
    if (!run) return reportUnknownRun;
    const all = await Promise.allSettled(entry.targets.map((one) => this.actOn(run, one)));
    const acted = all.flatMap((one) => {
      if (one.status === 'rejected') throw one.reason;
      return one.value ?? [];
    });
    return reportActed(run, acted, entry.targets.length);
  }

  private async actOn(run: ActingRun, dispatched: Dispatched): Promise<Acted | undefined> {
    if (!(await this.hasSlot(run, dispatched))) return undefined;
    const { claims, verifier } = this;
    try {
      const acted = await act(this.deps, run, dispatched, {
        claims,
        verifier,
        stopping: this.stopping.signal,
      });
      if (acted) this.noteMoved(run, acted.target);
      return acted;
    } finally {
      this.slots.free();
    }
  }

  /** Whether it got a slot. Until then, its target is not mistaken for one whose entry was lost. */
  private async hasSlot({ id: run }: ActingRun, dispatched: Dispatched): Promise<boolean> {
    const { clock, records } = this.deps;
    if (this.slots.takeNow()) return true;
    const renew = async () => {
      // Without it, the target is queued again; who claims it first has it.
      await records.targets.renew(run, dispatched, clock.now()).catch(() => false);
    };
    const waiting = { renew };
    this.claims.hold(waiting);
    try {
      return await this.slots.take();
    } finally {
      await this.claims.release(waiting);
    }
  }

  private noteMoved(run: ActingRun, target: Moved['target']): void {
    const { account } = run;
    const moved = this.moved.get(account);
    if (moved) moved.push({ run, target });
    else this.moved.set(account, [{ run, target }]);
    if (!this.rounds.has(account)) this.rounds.set(account, this.continueRuns(account));
  }

  /** Resolves when no round is running or due. */
  async whenIdle(): Promise<void> {
    await Promise.all(this.rounds.values());
  }

  private async continueRuns(account: string): Promise<void> {
    for (let moved = this.moved.get(account); moved; moved = this.moved.get(account)) {
      this.moved.delete(account);
      await afterTargets(this.deps, account, moved).catch((error: unknown) =>
        this.deps.log.warn(
          { account, err: error },
          'the runs of changed targets could not be continued; the supervisor continues them',
        ),
      );
    }
    this.rounds.delete(account);
  }
}

/** How many targets a process works on at the same time. Those who wait for a slot get it in their order. */
class Slots {
  private readonly waiting: ((isFree: boolean) => void)[] = [];
  private isClosed = false;

  constructor(private left: number) {}

  /** Takes a slot if one is free. */
  takeNow(): boolean {
    if (this.isClosed || this.left === 0) return false;
    this.left -= 1;
    return true;
  }

  /** Waits for a slot, when none is free now, and takes it. False when no more are given out. */
  async take(): Promise<boolean> {
    return !this.isClosed && new Promise((resolve) => this.waiting.push(resolve));
  }

  free(): void {
    const next = this.waiting.shift();
    if (next) next(true);
    else this.left += 1;
  }

  /** Gives out no more slots. */
  close(): void {
    this.isClosed = true;
    for (const refuse of this.waiting.splice(0)) refuse(false);
  }
}
