/**
 * The follower: learns what became of everything in flight for an account, by list calls for all of it
 * together.
 *
 * One process follows an account at a time (the supervisor holds the lease). What it knows besides the
 * records is only when it looked last; a successor starts with a sweep and loses nothing.
 */

import { BudgetSpentError } from '../../budget/budget.ts';
import type { CallOptions } from '../../client/call-options.ts';
import { AccountRefusedError, GoneError, RejectedError, UnavailableError } from '../../client/errors.ts';
import { allItems } from '../../client/pages.ts';
import { isoTime, type TimeBounds, timeOf } from '../../clock.ts';
import { ContractError } from '../../contract/answers.ts';
import type { Input } from '../../contract/operations.ts';
import { CaretakerError, messageOf } from '../../errors.ts';
import type { Api } from '../../job/api.ts';
import { watchKindOf } from '../../job/registry.ts';
import type { Lost, Verdict } from '../../job/watch/watch.ts';
import type { Run, Watch } from '../../run/run.ts';
import type { EngineDeps } from '../deps.ts';
import { explainEnd } from '../explain-end.ts';

import { afterTargets } from '../finish-run.ts';
import { readingOf, readOnly } from '../job-api.ts';
import { Spending } from '../spending.ts';
import { blockAccount } from '../supervise/block.ts';
import {
  type Evaluated,
  endBy,
  endOf,
  type Followed,
  isLate,
  isLost,
  lacksDetail,
  mostConcerned,
  nameOf,
  partition,
} from './followed.ts';
import { affordablePolls, isPollDue, nextSweepAfterMs, probeAfterMs } from './pace.ts';

/** What took longer than this was not looked at in time, or is an exception. */
const MAX_LEARNT_MS = 30 * 60_000;
/** Sweeps overlap by so much: what is shown a little late is not missed. */
const OVERLAP_MS = 10_000;
/** More of one run cannot be in flight than its concurrency; this bounds what is read. */
const IN_FLIGHT = 1_000;

/** The last sweep of a kind that came to its end. */
interface Covered {
  /** When it began. */
  at: number;
  names: ReadonlySet<string>;
  /** Up to when it showed everything, by the service's clock. */
  seenTo: number;
}

/** Follows one account's work for as long as its process holds the lease. */
export class Follower {
  private readonly nextSweepAt = new Map<string, number>();
  /** How often each target was looked at alone, and when it was last. */
  private readonly polls = new Map<string, { at: number; count: number }>();
  /** When requests were sent for looks, in the last minute. */
  private pollRequests: number[] = [];
  private readonly covered = new Map<string, Covered>();
  /** Requests sent and not yet counted on a run. */
  private readonly uncounted = new Spending();

  constructor(
    private readonly deps: EngineDeps,
    private readonly account: string,
    /** Aborts when this process stops: what is asked then, the next one asks again. */
    private readonly stopping: AbortSignal,
  ) {}

  /** When the last sweep of a kind that came to its end began; long ago when there was none. */
  sweptAt(kind: string): number {
    return this.covered.get(kind)?.at ?? Number.NEGATIVE_INFINITY;
  }

  /** When the next sweep of each kind is due; in the past for a kind of which nothing is in flight. */
  get sweepsAt(): readonly number[] {
    return [...this.nextSweepAt.values()];
  }

  /** Sweeps the kinds that are due. The client's errors end the round; the next one tries again. */
  async round(runs: readonly Run[]): Promise<void> {
    const now = this.deps.clock.now();
    const due = [...this.deps.registry.watches.keys()].filter(
      (kind) => now >= (this.nextSweepAt.get(kind) ?? 0),
    );
    if (due.length === 0) return;
    const inFlight = await this.gather(runs);
    this.forget(inFlight);
    for (const kind of due) {
      const followed = inFlight.filter(({ watch }) => watch.kind === kind);
      if (followed.length > 0) await this.roundOf(kind, followed);
    }
  }

  private async roundOf(kind: string, followed: readonly Followed[]): Promise<void> {
    const { clock, records } = this.deps;
    const now = clock.now();
    const usual = await records.accounts.usualMs(this.account, kind);
    const { limit } = await this.deps.link(this.account).budget.state();
    const agesMs = followed.map(({ watch }) => now - watch.since);
    // Set before the requests: a round that fails is not repeated at once.
    this.nextSweepAt.set(kind, now + nextSweepAfterMs({ usualMs: usual, agesMs, requestsPerMinute: limit }));
    const options: CallOptions = {
      requestClass: 'follow',
      whenSpent: 'leave',
      signal: this.stopping,
      onRequest: this.uncounted.count,
    };
    try {
      const open = await this.sweep(kind, followed, options);
      const [late, rest] = partition(open, ({ one }) => isLate(one, now));
      await this.conclude(late.map(({ one }) => ({ one, verdict: { is: 'running' } })));
      await this.poll(rest, usual, options);
    } catch (error) {
      await this.handleRoundError(error, kind);
    } finally {
      await records.runs.countRequests(mostConcerned(followed), this.uncounted.take());
    }
  }

  /** Goes through the list; gives what it did not settle, and whether it was seen there. */
  private async sweep(
    kind: string,
    followed: readonly Followed[],
    options: CallOptions,
  ): Promise<{ one: Followed; unclear: boolean }[]> {
    const { client } = this.deps.link(this.account);
    const { sweep, keyOf, keyOfItem, evaluate: judge, movedAt } = watchKindOf(this.deps.registry, kind);
    const waiting = new Map<string, Followed[]>();
    for (const one of followed)
      waiting.set(keyOf(one.watch), [...(waiting.get(keyOf(one.watch)) ?? []), one]);
    const at = this.deps.clock.now();
    const watches = followed.map(({ watch }) => watch);
    const query = sweep.query(watches, await this.sweepFrom(kind, followed, options));
    const judged: Evaluated[] = [];
    const unclear: { one: Followed; unclear: boolean }[] = [];
    const pages = allItems(
      sweep.operation,
      (page) => client.call(sweep.operation, { ...query, ...page } as Input<'listSites'>, options),
      1,
    );
    let newest = this.covered.get(kind)?.seenTo ?? Number.NEGATIVE_INFINITY;
    let isRead = true;
    try {
      for await (const item of this.readable(pages, () => (isRead = false))) {
        const moved = timeOf(movedAt?.(item));
        if (moved && moved.earliest > newest) newest = moved.earliest;
        const key = keyOfItem(item);
        for (const one of waiting.get(key) ?? []) {
          const verdict = judge(one.watch, item, await this.begun(one.watch, options));
          if (verdict.is === 'unclear') unclear.push({ one, unclear: true });
          else judged.push({ one, verdict });
        }
        waiting.delete(key);
        if (waiting.size === 0) break;
      }
    } finally {
      // Also what the pages before a failure showed.
      const [untold, told] = partition(judged, ({ verdict }) => lacksDetail(verdict));
      await this.conclude(told);
      await this.conclude(await this.explained(untold, options));
    }
    // A timestamp from the future would hide from the next sweeps what ends until then.
    const { earliest, latest } = await client.serviceTime(at, options);
    const seenTo = movedAt ? Math.min(newest, latest) : earliest;
    if (isRead) this.covered.set(kind, { at, names: new Set(followed.map(nameOf)), seenTo });
    const unseen = [...waiting.values()].flat().map((one) => ({ one, unclear: false }));
    return [...unclear, ...unseen];
  }

  /** The items up to the first page that cannot be read. What it would have shown is looked at alone. */
  private async *readable<T>(items: AsyncIterable<T>, onUnreadable: () => void): AsyncGenerator<T> {
    try {
      yield* items;
    } catch (error) {
      if (!(error instanceof ContractError)) throw error;
      this.deps.log.warn({ account: this.account }, messageOf(error));
      onUnreadable();
    }
  }

  /**
   * The service's moment up to which earlier sweeps have shown everything for these watches; nothing when
   * there is a watch among them that the last one did not cover although its work had begun by then.
   */
  private seenTo(kind: string, followed: readonly Followed[]): number | undefined {
    const covered = this.covered.get(kind);
    const missed = (one: Followed) =>
      covered && !covered.names.has(nameOf(one)) && one.watch.since < covered.at;
    return covered && !followed.some(missed) && Number.isFinite(covered.seenTo) ? covered.seenTo : undefined;
  }

  /** The service's time since which a sweep must show everything for these watches. */
  private async sweepFrom(
    kind: string,
    followed: readonly Followed[],
    options: CallOptions,
  ): Promise<string> {
    const begun = await Promise.all(followed.map(({ watch }) => this.begun(watch, options)));
    const earliest = Math.min(...begun.map((bounds) => bounds.earliest));
    return isoTime(Math.max(earliest, this.seenTo(kind, followed) ?? earliest) - OVERLAP_MS);
  }

  /** When followed work began, by the service's clock. */
  private async begun({ since, serviceSince }: Watch, options: CallOptions): Promise<TimeBounds> {
    return serviceSince ?? this.deps.link(this.account).client.serviceTime(since, options);
  }

  private async poll(
    open: readonly { one: Followed; unclear: boolean }[],
    usual: number | undefined,
    options: CallOptions,
  ): Promise<void> {
    const now = this.deps.clock.now();
    const due = open.filter(({ one, unclear }) => {
      const { at, count: polls } = this.pollsOf(one);
      const { lostAt } = one.target;
      const lostForMs = lostAt === undefined ? undefined : now - lostAt;
      return isPollDue(
        { ageMs: now - one.watch.since, polls, polledAgoMs: now - at, unclear, lostForMs },
        usual,
      );
    });
    if (due.length === 0) return;
    // What seems lost first, since it holds a place for nothing; then what has waited longest.
    const ranked = due
      .map(({ one }) => ({ one, ...this.pollsOf(one) }))
      .sort((a, b) => Number(isLost(b.one)) - Number(isLost(a.one)) || a.at - b.at);
    const { api, affordable } = await this.pollApi(open, options);
    for (const { one, count } of ranked.slice(0, affordable)) {
      this.polls.set(nameOf(one), { at: now, count: count + 1 });
      const found = await this.requestStatus(api, one, options);
      if (found.is !== 'lost') await this.conclude([{ one, verdict: found }]);
      else if (isLost(one))
        await this.conclude([{ one, verdict: { ...found, is: 'failed', reason: 'unknown-effect' } }]);
      else await this.markLost(one, { lostAt: this.deps.clock.now(), detail: found.detail });
    }
  }

  /** Writes down that the service knows nothing of the followed work, or that it does again. */
  private async markLost(
    { run, target, watch }: Followed,
    found: { lostAt: number; detail: string } | undefined,
  ): Promise<void> {
    const { lostAt: _lostAt, detail: _detail, ...rest } = target;
    const at = this.deps.clock.now();
    const place = { from: ['following'] as const, at, dueAt: watch.since };
    await this.deps.records.targets.move(run, { ...rest, ...found }, place);
  }

  /**
   * Bad ends with what the service says of them alone, as far as looks can be afforded. Where the words
   * cannot be had, how it ended is known all the same.
   */
  private async explained(untold: readonly Evaluated[], options: CallOptions): Promise<Evaluated[]> {
    if (untold.length === 0) return [];
    const { api, affordable } = await this.pollApi(untold, options);
    const explained: Evaluated[] = [];
    for (const { one, verdict } of untold.slice(0, affordable)) {
      explained.push({ one, verdict: await this.explain(api, one, verdict) });
    }
    return [...explained, ...untold.slice(affordable)];
  }

  private async explain(api: Api, { watch }: Followed, verdict: Verdict): Promise<Verdict> {
    const { explain } = watchKindOf(this.deps.registry, watch.kind);
    if (!explain || verdict.is !== 'failed') return verdict;
    try {
      return await explain(api, watch, verdict);
    } catch (error) {
      if (!(error instanceof CaretakerError)) throw error;
      this.deps.log.warn(
        { account: this.account },
        `it stays unknown why a task ended badly: ${error.message}`,
      );
      return verdict;
    }
  }

  /** The service as looks see it, and how many of them can be afforded now for what is open. */
  private async pollApi(
    open: readonly { one: Followed }[],
    options: CallOptions,
  ): Promise<{ api: Api; affordable: number }> {
    const now = this.deps.clock.now();
    const { client, budget } = this.deps.link(this.account);
    this.pollRequests = this.pollRequests.filter((at) => now - at < 60_000);
    const counted: CallOptions = {
      ...options,
      onRequest: (operation, ticket) => {
        options.onRequest?.(operation, ticket);
        this.pollRequests.push(this.deps.clock.now());
      },
    };
    const { api } = readingOf(client, counted, readOnly(client, counted));
    const { limit, remaining } = await budget.state();
    const spentLastMinute = this.pollRequests.length;
    const someLost = open.some(({ one }) => isLost(one));
    return { api, affordable: affordablePolls({ limit, remaining, spentLastMinute, someLost }) };
  }

  private pollsOf(one: Followed): { at: number; count: number } {
    return this.polls.get(nameOf(one)) ?? { at: 0, count: 0 };
  }

  private async requestStatus(api: Api, { watch }: Followed, options: CallOptions): Promise<Verdict | Lost> {
    try {
      const since = await this.begun(watch, options);
      return await watchKindOf(this.deps.registry, watch.kind).poll(api, watch, since);
    } catch (error) {
      if (error instanceof GoneError) return { is: 'skipped', reason: 'gone' };
      if (error instanceof RejectedError || error instanceof ContractError) return { is: 'unclear' };
      throw error;
    }
  }

  /** Writes the ends among the verdicts, all at once, and does what follows from them. */
  private async conclude(judged: readonly Evaluated[]): Promise<void> {
    const { clock, records } = this.deps;
    const at = clock.now();
    const ends = judged.flatMap(({ one, verdict }) => {
      const found = endBy(one, verdict, at);
      const job = this.deps.registry.get(one.run.job);
      const end = found && job ? explainEnd(job, found) : found;
      return end ? [{ one, end, target: endOf(one.target, end, at) }] : [];
    });
    const goesOn = judged.filter(({ one, verdict }) => isLost(one) && !endBy(one, verdict, at));
    await Promise.all(goesOn.map(({ one }) => this.markLost(one, undefined)));
    if (ends.length === 0) return;
    const written = await Promise.all(
      ends.map(({ one: { run }, target }) =>
        // Counted with the first target that ends, so that a run which ends by it has its whole cost.
        records.targets.move(run, target, {
          from: ['following'],
          spent: this.uncounted.take(),
          at,
          dueAt: at,
        }),
      ),
    );
    const moved = ends.filter((_, index) => written[index]);
    await this.learnFrom(
      moved.flatMap(({ one, end }) => (end.is === 'done' && !one.watch.adopted ? [one] : [])),
      at,
    );
    const follows = moved.map(({ one: { run }, target }) => ({ run, target }));
    if (follows.length > 0) await afterTargets(this.deps, this.account, follows);
  }

  /**
   * Learns how long such work takes, from what of one kind has ended well: at some time since the sweep
   * before.
   */
  private async learnFrom(ended: readonly Followed[], at: number): Promise<void> {
    const [first] = ended;
    if (!first) return;
    const { kind } = first.watch;
    const covered = this.covered.get(kind);
    const took = ended.map((one) => {
      const sinceSweep = covered?.names.has(nameOf(one)) ? at - covered.at : 0;
      return Math.min(at - one.watch.since - sinceSweep / 2, MAX_LEARNT_MS);
    });
    const average = took.reduce((sum, ms) => sum + ms, 0) / took.length;
    await this.deps.records.accounts.learnDuration(this.account, kind, average, took.length);
  }

  private async gather(runs: readonly Run[]): Promise<Followed[]> {
    const { targets } = this.deps.records;
    const found = await Promise.all(
      runs.map(async (run) => {
        const following = await targets.inState(run.id, 'following', IN_FLIGHT);
        return following.flatMap((target) => (target.watch ? [{ run, target, watch: target.watch }] : []));
      }),
    );
    return found.flat();
  }

  private forget(inFlight: readonly Followed[]): void {
    const names = new Set(inFlight.map(nameOf));
    for (const name of this.polls.keys()) if (!names.has(name)) this.polls.delete(name);
  }

  /** What ends a round without being anybody's failure. */
  private async handleRoundError(error: unknown, kind: string): Promise<void> {
    if (error instanceof BudgetSpentError || this.stopping.aborted) return;
    if (error instanceof AccountRefusedError) return blockAccount(this.deps, this.account, error);
    if (!(error instanceof UnavailableError)) throw error;
    const { failingSince, failedAt = 0 } = await this.deps.link(this.account).budget.state();
    const askAgainAt = failedAt + probeAfterMs(failedAt - (failingSince ?? failedAt));
    this.nextSweepAt.set(kind, Math.max(this.nextSweepAt.get(kind) ?? 0, askAgainAt));
    this.deps.log.warn({ account: this.account }, `following waits: ${messageOf(error)}`);
  }
}
