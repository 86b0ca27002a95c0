/**
 * This process at work on entries: what many targets have in common is done once for them.
 *
 * What of a run never changes is read once. What follows when targets have moved on is done beside the slots,
 * one round after the other, each for all that have moved since the one before: a slot goes on to the next
 * entry at once, and with fifty of them busy a round is done for many. Whatever is lost on the way, the
 * supervisor makes up for.
 */
import { setMaxListeners } from 'node:events';
import type { Entry } from '../../queue/queues.ts';
import { type EngineDeps, policyOf } from '../deps.ts';
import { afterTargets, type Moved } from '../finish-run.ts';
import { type ActingRun, act } from './act.ts';

/** Runs of which entries are worked on at the same time; of more, some are read again. */
const MAX_KNOWN = 100;

export class Actor {
  private readonly known = new Map<string, ActingRun>();
  /** What has moved and is not looked after yet, by account. */
  private readonly moved = new Map<string, Moved[]>();
  private readonly rounds = new Map<string, Promise<void>>();

  private readonly leaving = new AbortController();

  constructor(private readonly deps: EngineDeps) {
    // Every request listens to it.
    setMaxListeners(0, this.leaving.signal);
  }

  /** Waits no longer for any answer; what was asked for is found out by whoever goes on with the targets. */
  leave(): void {
    this.leaving.abort();
  }

  /** Works on one entry; see `act`. */
  async act(entry: Extract<Entry, { kind: 'act' }>): Promise<void> {
    const run = await this.runOf(entry.run);
    const target = run && (await act(this.deps, run, entry, this.leaving.signal));
    if (!target) return;
    const { account } = run;
    const moved = this.moved.get(account);
    if (moved) moved.push({ run, target });
    else this.moved.set(account, [{ run, target }]);
    if (!this.rounds.has(account)) this.rounds.set(account, this.lookAfter(account));
  }

  /** Resolves when all that has moved is looked after. */
  async rest(): Promise<void> {
    await Promise.all(this.rounds.values());
  }

  private async lookAfter(account: string): Promise<void> {
    for (let moved = this.moved.get(account); moved; moved = this.moved.get(account)) {
      this.moved.delete(account);
      await afterTargets(this.deps, account, moved).catch((error: unknown) =>
        this.deps.log.warn({ account, err: error }, 'what follows from actions is left to the supervisor'),
      );
    }
    this.rounds.delete(account);
  }

  private async runOf(id: string): Promise<ActingRun | undefined> {
    const known = this.known.get(id);
    if (known) return known;
    const run = await this.deps.records.runs.get(id);
    if (!run) return undefined;
    const [oldest] = this.known.keys();
    if (oldest !== undefined && this.known.size >= MAX_KNOWN) this.known.delete(oldest);
    const { account, job, scheduledFor } = run;
    const acting = { id, account, job, scheduledFor, policy: policyOf(run) };
    this.known.set(id, acting);
    return acting;
  }
}
