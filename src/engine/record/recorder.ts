/**
 * Writes what was done to the sites (`record:` of a policy), in every process that works. It takes one site of
 * an account at a time from the outbox. Its requests have a class of their own, so that they do not delay the
 * work of runs, and no run depends on their result.
 */
import { setMaxListeners } from 'node:events';
import { type Rest, restOf } from '../../clock.ts';
import { messageOf } from '../../errors.ts';
import type { Run } from '../../run/run.ts';
import { type EngineDeps, serves } from '../deps.ts';
import { RunCache } from '../run-cache.ts';
import { writeSite } from './write-recordings.ts';

const TICK_INTERVAL_MS = 1_000;
/** While the outbox is empty. An event that a target ended may be lost with a connection. */
const IDLE_INTERVAL_MS = 5_000;
/** A claim expires after this time. What its holder still sends after that is not sent. */
const CLAIM_MS = 60_000;

export class Recorder {
  private readonly rounds = new Map<string, Promise<void>>();
  /** Until when nothing is sent to an account. */
  private readonly pauses = new Map<string, number>();
  /** Of these runs, only the fields that never change are current. */
  private readonly runs: RunCache<Run>;
  private readonly stopping = new AbortController();
  private readonly waiting = new AbortController();
  private readonly rest: Rest;
  private loop: Promise<void> | undefined;

  constructor(private readonly deps: EngineDeps) {
    this.runs = new RunCache(deps.records, (run) => run);
    this.rest = restOf(deps.clock, this.stopping.signal);
    // Every request adds a listener.
    setMaxListeners(0, this.waiting.signal);
  }

  start(): void {
    this.loop ??= this.run();
  }

  /** Something may have been added to the outbox. */
  wake(): void {
    this.rest.wake();
  }

  /** Takes no more sites, and waits for the one in progress of each account. */
  async stop(): Promise<void> {
    this.stopping.abort();
    await this.loop;
    await Promise.all(this.rounds.values());
  }

  /** Stops waiting for answers. The process that takes the site next looks for what the request did. */
  stopWaiting(): void {
    this.waiting.abort();
  }

  private async run(): Promise<void> {
    const { log } = this.deps;
    while (!this.stopping.signal.aborted) {
      const isIdle = await this.tick().catch((error: unknown) => {
        log.warn({ err: error }, 'the outbox could not be read; the next tick tries again');
        return false;
      });
      await this.rest.for(isIdle ? IDLE_INTERVAL_MS : TICK_INTERVAL_MS, TICK_INTERVAL_MS);
    }
  }

  /** Whether the outbox is empty. */
  private async tick(): Promise<boolean> {
    const { records, clock, log } = this.deps;
    const accounts = await records.outbox.accounts();
    for (const account of accounts) {
      if (!serves(this.deps, { account }) || this.rounds.has(account)) continue;
      if (clock.now() < (this.pauses.get(account) ?? 0)) continue;
      const round = this.writeSites(account)
        .catch((error: unknown) =>
          log.warn({ account, err: error }, `what was done could not be recorded: ${messageOf(error)}`),
        )
        .finally(() => this.rounds.delete(account));
      this.rounds.set(account, round);
    }
    return accounts.length === 0;
  }

  /** Writes to the sites of an account that are due, until there are none or something stands in the way. */
  private async writeSites(account: string): Promise<void> {
    const { records, clock, addressOf } = this.deps;
    while (!this.stopping.signal.aborted) {
      const claim = await records.outbox.claim(account, clock.now(), CLAIM_MS, addressOf(account));
      if (!claim) return;
      const until = await writeSite(this.deps, claim, (id) => this.runs.get(id), this.waiting.signal);
      if (until === undefined) continue;
      this.pauses.set(account, until);
      return;
    }
  }
}
