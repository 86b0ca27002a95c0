/**
 * The steward: once a second, looks after every account that has runs under way.
 *
 * It follows what is in flight, hands out what is due, ends what is late, and picks up what a dead process left behind.
 * One process is an account's steward at a time, by a lease that runs out seconds after its holder dies. Everything it
 * does is safe to do twice, so a steward that was asleep too long harms nothing.
 */
import { messageOf } from '../errors.ts';
import type { Run } from '../run/run.ts';
import { FIRST_PROBE_MS, PROBE_MS, probeAccount } from './block.ts';
import { timedOut } from './decide.ts';
import { drain, endPending } from './drain.ts';
import { afterTarget, concludeRun, finishIfDone, handOut } from './finish.ts';
import { mayStart } from './fire.ts';
import { Follower } from './follow.ts';
import { type Parts, policyOf } from './parts.ts';

const TICK_MS = 1_000;
const LEASE_MS = 6_000;
/** A plan that is not there after so long is put into the queue (again). */
const REPLAN_MS = 10_000;
/** A handed-out target that nobody claimed is put into the queue again; one that was claimed is handed out anew. */
const UNCLAIMED_MS = 10_000;
const CLAIMED_MS = 30_000;
const PAGE = 200;

interface Charge {
  follower: Follower;
  probedAt: number | undefined;
  replannedAt: Map<string, number>;
  busy?: Promise<void>;
}

export class Steward {
  private readonly charges = new Map<string, Charge>();
  private readonly stopping = new AbortController();
  private loop: Promise<void> | undefined;

  constructor(private readonly parts: Parts) {}

  start(): void {
    this.loop ??= this.run();
  }

  /** Ends after the rounds under way, and gives the leases back so that others can take over at once. */
  async stop(): Promise<void> {
    this.stopping.abort();
    await this.loop;
    await Promise.all([...this.charges.values()].map(({ busy }) => busy));
    for (const account of this.charges.keys()) {
      await this.parts.records.locks.giveBack(lease(account), this.parts.owner).catch(() => undefined);
    }
  }

  private async run(): Promise<void> {
    const { clock, log } = this.parts;
    while (!this.stopping.signal.aborted) {
      try {
        await this.tick();
      } catch (error) {
        log.warn({ err: error }, 'the steward could not look after its accounts for a moment');
      }
      await clock.sleep(TICK_MS, this.stopping.signal);
    }
  }

  private async tick(): Promise<void> {
    const { records, owner, log } = this.parts;
    for (const account of await records.runs.activeAccounts()) {
      if (!(await records.locks.take(lease(account), owner, LEASE_MS))) {
        this.charges.delete(account);
        continue;
      }
      const charge = this.charges.get(account) ?? this.takeOn(account);
      // A round that takes longer than a tick goes on; only the lease is renewed meanwhile.
      charge.busy ??= this.lookAfter(account, charge)
        .catch((error: unknown) =>
          log.warn({ account, err: error }, `an account had to wait: ${messageOf(error)}`),
        )
        .finally(() => {
          delete charge.busy;
        });
    }
  }

  private takeOn(account: string): Charge {
    const charge: Charge = {
      follower: new Follower(this.parts, account),
      probedAt: undefined,
      replannedAt: new Map(),
    };
    this.charges.set(account, charge);
    return charge;
  }

  private async lookAfter(account: string, charge: Charge): Promise<void> {
    const { records, clock } = this.parts;
    const runs = await records.runs.active(account);
    if (runs.length === 0) return;
    const blocked = await records.accounts.blocked(account);
    if (!blocked) charge.probedAt = undefined;
    else if (
      clock.now() >=
      (charge.probedAt === undefined ? blocked.since + FIRST_PROBE_MS : charge.probedAt + PROBE_MS)
    ) {
      charge.probedAt = clock.now();
      await probeAccount(this.parts, account);
    }
    for (const run of runs) await this.tend(run, runs, charge);
    await charge.follower.round(runs.filter(({ status }) => status === 'running'));
  }

  private async tend(run: Run, active: readonly Run[], charge: Charge): Promise<void> {
    const now = this.parts.clock.now();
    if (run.deadline !== undefined && now > run.deadline) return this.callTime(run);
    if (run.status === 'queued' || run.status === 'planning') return this.replan(run, active, charge);
    charge.replannedAt.delete(run.id);
    if (run.ending) await drain(this.parts, run);
    if (run.status === 'blocked') return;
    await this.endLate(run);
    await this.rescue(run);
    await handOut(this.parts, run.id);
    await finishIfDone(this.parts, run.id);
  }

  /** Puts the plan into the queue: for a run whose turn has come, or whose planner died or found the service away. */
  private async replan(run: Run, active: readonly Run[], charge: Charge): Promise<void> {
    const now = this.parts.clock.now();
    const since = charge.replannedAt.get(run.id) ?? (run.status === 'queued' ? 0 : now);
    charge.replannedAt.set(run.id, since);
    if (now - since < REPLAN_MS || !mayStart(run, active, policyOf(run))) return;
    charge.replannedAt.set(run.id, now);
    await this.parts.queues.put([{ kind: 'plan', run: run.id }]);
  }

  /** The run's time is up: everything gets its outcome now. */
  private async callTime(run: Run): Promise<void> {
    const { records, clock } = this.parts;
    const detail = 'The time limit of the run passed (timeout.run).';
    if (!run.planComplete) {
      await concludeRun(this.parts, run, 'failed', detail);
      return;
    }
    await records.runs.clearDetail(run.id);
    await endPending(this.parts, run, (target) => ({ ...timedOut(target, clock.now()), detail }));
    for (const state of ['acting', 'following', 'waiting'] as const) {
      for (const target of await records.targets.inState(run.id, state, PAGE)) {
        const at = clock.now();
        await records.targets.settle(run, timedOut(target, at), { from: [state], requests: 0, at });
      }
    }
    await finishIfDone(this.parts, run.id);
  }

  private async endLate(run: Run): Promise<void> {
    const { records, clock } = this.parts;
    for (const target of await records.targets.late(run.id, clock.now(), PAGE)) {
      const at = clock.now();
      const end = timedOut(target, at);
      if (await records.targets.settle(run, end, { from: [target.state], requests: 0, at })) {
        await afterTarget(this.parts, run, end);
      }
    }
  }

  /** Picks up what was handed out and then lost, by a queue that forgot or a worker that died. */
  private async rescue(run: Run): Promise<void> {
    const { records, queues, clock } = this.parts;
    const now = clock.now();
    for (const target of await records.targets.inState(run.id, 'acting', PAGE, now - UNCLAIMED_MS)) {
      if (!target.claimed) {
        await queues.put([{ kind: 'act', run: run.id, target: target.id, step: target.step }]);
        continue;
      }
      const lost = await records.targets.inState(run.id, 'acting', PAGE, now - CLAIMED_MS);
      if (!lost.some(({ id }) => id === target.id)) continue;
      const { claimed: _lost, ...rest } = target;
      await records.targets.settle(
        run,
        { ...rest, state: 'waiting' },
        { from: ['acting'], dueAt: now, requests: 0, at: now },
      );
      this.parts.log.warn({ run: run.id, target: target.id }, 'picked up from a worker that went away');
    }
  }
}

const lease = (account: string): string => `steward:${account}`;
