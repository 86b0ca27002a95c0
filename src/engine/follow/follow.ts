/**
 * The follower finds the state of all work in flight in an account, by list calls that cover all of it.
 *
 * One process follows an account at a time: the supervisor holds the lease. Outside the records the follower
 * only keeps when it last looked. A successor starts with a sweep and loses nothing.
 */

import { BudgetSpentError } from '../../budget/budget.ts';
import type { CallOptions } from '../../client/call-options.ts';
import { AccountRefusedError, UnavailableError } from '../../client/errors.ts';
import { allItems } from '../../client/pages.ts';
import { isoTime, type TimeBounds, timeOf } from '../../clock.ts';
import { ContractError } from '../../contract/answers.ts';
import type { Input } from '../../contract/operations.ts';
import { CaretakerError, messageOf } from '../../errors.ts';
import type { Api } from '../../job/api.ts';
import { watchKindOf } from '../../job/registry.ts';
import type { Verdict } from '../../job/watch/watch.ts';
import type { Run, Watch } from '../../run/run.ts';
import { RequestLog } from '../act/report-act.ts';
import { type EngineDeps, Spending } from '../deps.ts';
import { afterTargets } from '../finish-run.ts';
import { createJobApi, readOnlyCall } from '../job-api.ts';
import { blockAccount } from '../supervise/block.ts';
import {
  type Evaluated,
  endFrom,
  endsOf,
  type Followed,
  isLate,
  isLost,
  keyOfFollowed,
  lacksDetail,
  lastLooks,
  partition,
  requestStatus,
  runWithMostInFlight,
  withRequestsOf,
  workOf,
} from './followed.ts';
import { affordablePolls, isPollDue, nextSweepAfterMs, probeAfterMs } from './pace.ts';

/** Longer durations are cut to this: such work was not looked at in time, or is an exception. */
const MAX_LEARNED_MS = 30 * 60_000;
/** How much sweeps overlap, so that work that the service lists late is not missed. */
const OVERLAP_MS = 10_000;
/** Bounds how much is read for a run. A run has at most `limits.concurrency` targets in flight. */
const MAX_IN_FLIGHT_PER_RUN = 1_000;

/** The last complete sweep of a kind. */
interface LastSweep {
  /** When it started. */
  at: number;
  names: ReadonlySet<string>;
  /** The service's time up to which it has shown everything. */
  shownUntil: number;
}

/** Follows one account's work for as long as its process holds the lease. */
export class Follower {
  private readonly nextSweepAt = new Map<string, number>();
  /** How often each target was polled, and when it was polled last. */
  private readonly polls = new Map<string, { at: number; count: number }>();
  /** When requests for polls were sent, in the last minute. */
  private pollRequests: number[] = [];
  private readonly lastSweeps = new Map<string, LastSweep>();
  /** Requests that are not yet counted for a run. */
  private readonly uncounted = new Spending();

  constructor(
    private readonly deps: EngineDeps,
    private readonly account: string,
    /** Aborts when this process stops. The next supervisor repeats interrupted requests. */
    readonly stopping: AbortSignal,
  ) {}

  /** When the last complete sweep of a kind started; minus infinity when there was none. */
  sweptAt(kind: string): number {
    return this.lastSweeps.get(kind)?.at ?? Number.NEGATIVE_INFINITY;
  }

  /** When the next sweep of each kind is due; in the past for a kind with nothing in flight. */
  get sweepsAt(): readonly number[] {
    return [...this.nextSweepAt.values()];
  }

  /** Sweeps the kinds that are due. An error of the client ends the round; the next round tries again. */
  async round(runs: readonly Run[]): Promise<void> {
    const now = this.deps.clock.now();
    const due = [...this.deps.registry.watches.keys()].filter(
      (kind) => now >= (this.nextSweepAt.get(kind) ?? 0),
    );
    if (due.length === 0) return;
    const inFlight = await this.readInFlight(runs);
    this.forget(inFlight);
    for (const kind of due) {
      const followed = inFlight.filter(({ watch }) => watch.kind === kind);
      if (followed.length > 0) await this.roundOf(kind, followed);
    }
  }

  private async roundOf(kind: string, followed: readonly Followed[]): Promise<void> {
    const { clock, records } = this.deps;
    const now = clock.now();
    const usualMs = await records.accounts.usualMs(this.account, kind);
    const { limit } = await this.deps.link(this.account).budget.state();
    const agesMs = followed.map(({ watch }) => now - watch.since);
    // Set before the requests: a round that fails is not repeated at once.
    this.nextSweepAt.set(kind, now + nextSweepAfterMs({ usualMs, agesMs, requestsPerMinute: limit }));
    const options: CallOptions = {
      requestClass: 'follow',
      whenSpent: 'leave',
      signal: this.stopping,
      onRequest: this.uncounted.count,
      onSent: this.deps.traces?.requestsOf({ run: runWithMostInFlight(followed) }),
    };
    try {
      const open = await this.sweep(kind, followed, options);
      const [late, rest] = partition(open, ({ one }) => isLate(one, now));
      await this.conclude(await lastLooks(this.deps, late, this.stopping));
      await this.poll(rest, usualMs, options);
    } catch (error) {
      await this.handleRoundError(error, kind);
    } finally {
      await records.runs.countRequests(runWithMostInFlight(followed), this.uncounted.take());
    }
  }

  /** Writes the ends that the list shows. Returns the other work, and whether the list shows it as unclear. */
  private async sweep(
    kind: string,
    followed: readonly Followed[],
    options: CallOptions,
  ): Promise<{ one: Followed; unclear: boolean }[]> {
    const { client } = this.deps.link(this.account);
    const { sweep, keyOf, keyOfItem, evaluate, movedAt } = watchKindOf(this.deps.registry, kind);
    const byKey = new Map<string, Followed[]>();
    for (const one of followed) byKey.set(keyOf(one.watch), [...(byKey.get(keyOf(one.watch)) ?? []), one]);
    const at = this.deps.clock.now();
    const watches = followed.map(({ watch }) => watch);
    const query = sweep.query(watches, await this.sweepFrom(kind, followed, options));
    const evaluated: Evaluated[] = [];
    const unclear: { one: Followed; unclear: boolean }[] = [];
    const pages = allItems(
      sweep.operation,
      (page) => client.call(sweep.operation, { ...query, ...page } as Input<'listSites'>, options),
      { rounds: 1 },
    );
    let newest = this.lastSweeps.get(kind)?.shownUntil ?? Number.NEGATIVE_INFINITY;
    let isRead = true;
    try {
      for await (const item of this.readable(pages, () => (isRead = false))) {
        const changedAt = timeOf(movedAt?.(item));
        if (changedAt && changedAt.earliest > newest) newest = changedAt.earliest;
        const key = keyOfItem(item);
        for (const one of byKey.get(key) ?? []) {
          const verdict = evaluate(one.watch, item, await this.startOf(one.watch, options));
          if (verdict.is === 'unclear') unclear.push({ one, unclear: true });
          else evaluated.push({ one, verdict });
        }
        byKey.delete(key);
        if (byKey.size === 0) break;
      }
    } finally {
      // Also the ends on the pages before an error.
      const [unexplained, complete] = partition(evaluated, ({ verdict }) => lacksDetail(verdict));
      await this.conclude(complete);
      await this.conclude(await this.explainAll(unexplained, options));
    }
    // A timestamp in the future must not count: the next sweeps would miss what ends until then.
    const { earliest, latest } = await client.serviceTime(at, options);
    const shownUntil = movedAt ? Math.min(newest, latest) : earliest;
    if (isRead) this.lastSweeps.set(kind, { at, names: new Set(followed.map(keyOfFollowed)), shownUntil });
    const unseen = [...byKey.values()].flat().map((one) => ({ one, unclear: false }));
    return [...unclear, ...unseen];
  }

  /** The items up to the first page that cannot be read. Its work is polled instead. */
  private async *readable<T>(items: AsyncIterable<T>, onUnreadable: () => void): AsyncGenerator<T> {
    try {
      yield* items;
    } catch (error) {
      if (!(error instanceof ContractError)) throw error;
      this.deps.log.warn({ account: this.account }, messageOf(error));
      onUnreadable();
    }
  }

  /** The service's time up to which earlier sweeps have shown everything; undefined when they did not cover a watch. */
  private shownUntil(kind: string, followed: readonly Followed[]): number | undefined {
    const last = this.lastSweeps.get(kind);
    const missed = (one: Followed) =>
      last && !last.names.has(keyOfFollowed(one)) && one.watch.since < last.at;
    return last && !followed.some(missed) && Number.isFinite(last.shownUntil) ? last.shownUntil : undefined;
  }

  /** The service's time from which a sweep must show everything for these watches. */
  private async sweepFrom(
    kind: string,
    followed: readonly Followed[],
    options: CallOptions,
  ): Promise<string> {
    const starts = await Promise.all(followed.map(({ watch }) => this.startOf(watch, options)));
    const earliest = Math.min(...starts.map((bounds) => bounds.earliest));
    return isoTime(Math.max(earliest, this.shownUntil(kind, followed) ?? earliest) - OVERLAP_MS);
  }

  /** When followed work began, by the service's clock. */
  private async startOf({ since, serviceSince }: Watch, options: CallOptions): Promise<TimeBounds> {
    return serviceSince ?? this.deps.link(this.account).client.serviceTime(since, options);
  }

  private async poll(
    open: readonly { one: Followed; unclear: boolean }[],
    usualMs: number | undefined,
    options: CallOptions,
  ): Promise<void> {
    const now = this.deps.clock.now();
    const isUnswept = ({ watch }: Followed) =>
      watchKindOf(this.deps.registry, watch.kind).isSwept?.(watch) === false;
    const due = open.filter(({ one, unclear }) => {
      const { at, count: polls } = this.pollsOf(one);
      const { lostAt } = one.target;
      const lostForMs = lostAt === undefined ? undefined : now - lostAt;
      return isPollDue(
        {
          ...{ ageMs: now - one.watch.since, polls, polledAgoMs: now - at },
          ...{ unclear, lostForMs, unswept: isUnswept(one) },
        },
        usualMs,
      );
    });
    if (due.length === 0) return;
    // Work that seems lost comes first: it holds a place for nothing. Then comes what was not polled for
    // longest.
    const ranked = due
      .map(({ one }) => ({ one, ...this.pollsOf(one) }))
      .sort((a, b) => Number(isLost(b.one)) - Number(isLost(a.one)) || a.at - b.at);
    const { apiFor, affordable } = await this.pollApi(open, options);
    for (const { one, count } of ranked.slice(0, affordable)) {
      this.polls.set(keyOfFollowed(one), { at: now, count: count + 1 });
      const log = new RequestLog();
      const found = await requestStatus(
        apiFor(one, log),
        one.watch,
        () => this.startOf(one.watch, options),
        this.deps,
      );
      const polled = withRequestsOf(log, one);
      if (found.is !== 'lost') await this.conclude([{ one: polled, verdict: found }]);
      else if (isLost(one))
        await this.conclude([{ one: polled, verdict: { ...found, is: 'failed', reason: 'unknown-effect' } }]);
      else await this.markLost(polled, { lostAt: this.deps.clock.now(), detail: found.detail });
    }
  }

  /** Records that the service no longer knows the followed work, or, with `undefined`, that it does again. */
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
   * Adds the service's explanation to ends that failed, as far as the budget for polls allows. Without the
   * explanation the end is still known.
   */
  private async explainAll(unexplained: readonly Evaluated[], options: CallOptions): Promise<Evaluated[]> {
    if (unexplained.length === 0) return [];
    const { apiFor, affordable } = await this.pollApi(unexplained, options);
    const explained: Evaluated[] = [];
    for (const { one, verdict: end } of unexplained.slice(0, affordable)) {
      const log = new RequestLog();
      const verdict = await this.explain(apiFor(one, log), one, end);
      explained.push({ one: withRequestsOf(log, one), verdict });
    }
    return [...explained, ...unexplained.slice(affordable)];
  }

  private async explain(api: Api, { watch }: Followed, verdict: Verdict): Promise<Verdict> {
    const { explain } = watchKindOf(this.deps.registry, watch.kind);
    if (!explain || verdict.is !== 'failed') return verdict;
    try {
      return await explain(api, watch, verdict);
    } catch (error) {
      if (!(error instanceof CaretakerError)) throw error;
      this.deps.log.warn({ account: this.account }, `could not find out why a task failed: ${error.message}`);
      return verdict;
    }
  }

  /** The interface for the polls of a target, and how many polls are affordable now for the open work. */
  private async pollApi(
    open: readonly { one: Followed }[],
    options: CallOptions,
  ): Promise<{ apiFor(one: Followed, log: RequestLog): Api; affordable: number }> {
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
    const apiFor = (one: Followed, log: RequestLog): Api => {
      const onSent = this.deps.traces?.requestsOf(workOf(one));
      const own = { ...counted, onSent, onAnswer: log.note };
      return createJobApi(client, own, readOnlyCall(client, own)).api;
    };
    const { limit, remaining } = await budget.state();
    const spentLastMinute = this.pollRequests.length;
    const someLost = open.some(({ one }) => isLost(one));
    return { apiFor, affordable: affordablePolls({ limit, remaining, spentLastMinute, someLost }) };
  }

  private pollsOf(one: Followed): { at: number; count: number } {
    return this.polls.get(keyOfFollowed(one)) ?? { at: 0, count: 0 };
  }

  /** Writes the ends among the verdicts together, and continues their runs. */
  private async conclude(evaluated: readonly Evaluated[]): Promise<void> {
    const { clock, records } = this.deps;
    const at = clock.now();
    const ends = endsOf(this.deps.registry, evaluated, at);
    const foundAgain = evaluated.filter(({ one, verdict }) => isLost(one) && !endFrom(one, verdict, at));
    await Promise.all(foundAgain.map(({ one }) => this.markLost(one, undefined)));
    if (ends.length === 0) return;
    const written = await Promise.all(
      ends.map(({ one: { run }, target }) =>
        // Counted with the first target that ends, so that the cost of a run that ends with it is complete.
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
    const toContinue = moved.map(({ one: { run }, target }) => ({ run, target }));
    if (toContinue.length > 0) await afterTargets(this.deps, this.account, toContinue);
  }

  /** Learns how long work of one kind takes from work that succeeded, at some time since the sweep before. */
  private async learnFrom(all: readonly Followed[], at: number): Promise<void> {
    // What began ahead of now began before the clock went back.
    const ended = all.filter(({ watch }) => watch.since <= at);
    const [first] = ended;
    if (!first) return;
    const { kind } = first.watch;
    const lastSweep = this.lastSweeps.get(kind);
    const took = ended.map((one) => {
      const sinceSweep = lastSweep?.names.has(keyOfFollowed(one)) ? at - lastSweep.at : 0;
      return Math.min(at - one.watch.since - sinceSweep / 2, MAX_LEARNED_MS);
    });
    const average = took.reduce((sum, ms) => sum + ms, 0) / took.length;
    await this.deps.records.accounts.learnDuration(this.account, kind, average, took.length);
  }

  private async readInFlight(runs: readonly Run[]): Promise<Followed[]> {
    const { targets } = this.deps.records;
    const found = await Promise.all(
      runs.map(async (run) => {
        const following = await targets.inState(run.id, 'following', MAX_IN_FLIGHT_PER_RUN);
        return following.flatMap((target) => (target.watch ? [{ run, target, watch: target.watch }] : []));
      }),
    );
    return found.flat();
  }

  private forget(inFlight: readonly Followed[]): void {
    const names = new Set(inFlight.map(keyOfFollowed));
    for (const name of this.polls.keys()) if (!names.has(name)) this.polls.delete(name);
  }

  /**
   * Handles the errors that may end a round: a spent budget, a stopping process, a refusing account or an
   * outage. Throws any other.
   */
  private async handleRoundError(error: unknown, kind: string): Promise<void> {
    if (error instanceof BudgetSpentError || this.stopping.aborted) return;
    if (error instanceof AccountRefusedError) return blockAccount(this.deps, this.account, error);
    if (!(error instanceof UnavailableError)) throw error;
    const { failingSince, failedAt = 0 } = await this.deps.link(this.account).budget.state();
    const nextProbeAt = failedAt + probeAfterMs(failedAt - (failingSince ?? failedAt));
    this.nextSweepAt.set(kind, Math.max(this.nextSweepAt.get(kind) ?? 0, nextProbeAt));
    this.deps.log.warn({ account: this.account }, `following waits: ${messageOf(error)}`);
  }
}
