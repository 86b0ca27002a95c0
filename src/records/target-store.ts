/**
 * The targets of a run and the state of each. No call reads or writes more than a page at once.
 *
 * `dispatch` raises the target's fence, and every later write must show the current fence. A worker that lost
 * its target can therefore write neither an intent nor an outcome.
 */

import { z } from 'zod';
import { type Store, toJson } from '../redis/store.ts';
import { isIn } from '../run/moves.ts';
import {
  endingReasons,
  type Intent,
  type Run,
  type Spent,
  Target,
  type TargetIn,
  type TargetState,
} from '../run/run.ts';
import { redact, scrub } from '../secrets.ts';
import { EFFECTS_KEPT_MS, type Effect, effectField, effectsKey } from './effect-store.ts';
import type { CaretakerEvent } from './events.ts';
import { GenerationStore } from './generation-store.ts';
import { keys, keysOfRun } from './keys.ts';
import { RECORDS_VERSION } from './migrations/migrations.ts';
import { type Owner, ownerText } from './once-store.ts';
import { checkRecord, parseRecord } from './parse-record.ts';
import {
  allocateRoom,
  claimTarget,
  dispatchTargets,
  moveTarget,
  noteIntent,
  renewClaim,
  takeBackTargets,
} from './target-scripts.ts';
import {
  type Allocated,
  type Claimed,
  type Dispatched,
  Excluded,
  type ReasonCount,
  type TimedState,
  toReasonCount,
} from './target-types.ts';

/**
 * Redacts the texts of a target that come from the service or from an error, which may repeat a credential.
 * The job state is redacted where it is encoded (`jobStateOf`).
 */
function withoutSecrets(target: Target): Target {
  const clean = { ...target, label: scrub(target.label) };
  const { detail, ended, findings, requests } = target;
  if (detail !== undefined) clean.detail = scrub(detail);
  if (ended?.detail !== undefined) clean.ended = { ...ended, detail: scrub(ended.detail) };
  if (findings !== undefined) clean.findings = redact(findings) as typeof findings;
  if (requests !== undefined) clean.requests = redact(requests) as typeof requests;
  return clean;
}

const PAGE = 500;
/** How many targets are dispatched by one script, which takes Redis less than a millisecond. */
const DISPATCHED_TOGETHER = 25;
/** When a target that waits for another run to release its site is dispatched again. */
const SITE_BUSY_MS = 5_000;

export class TargetStore {
  constructor(
    private readonly store: Store,
    /** Raised with every intent, so that an older state of Redis shows a smaller number. */
    private readonly generation = new GenerationStore(store),
  ) {}

  /** How many candidates are not part of the plan. */
  countExcluded(run: string): Promise<number> {
    return this.store.llen(keys.excluded(run));
  }

  /** How many targets of each of these runs are followed, and wait for a time. */
  countBesideQueues(runs: readonly string[]): Promise<{ following: number; waiting: number }[]> {
    const count = async (run: string) => {
      const [following, waiting] = await Promise.all([
        this.store.zcard(keys.following(run)),
        this.store.zcard(keys.waiting(run)),
      ]);
      return { following, waiting };
    };
    return Promise.all(runs.map(count));
  }

  async excluded(run: string, offset: number, count: number): Promise<Excluded[]> {
    const page = await this.store.lrange(keys.excluded(run), offset, offset + count - 1);
    return page.map((json) => parseRecord(Excluded, json, keys.excluded(run)));
  }

  /**
   * Divides `room` requests among the account's runs, by their weight and the targets that each has in
   * flight: how many targets each may dispatch. At most a page in all.
   */
  async allocate(account: string, now: number, room: number): Promise<Allocated[]> {
    const flat = (await allocateRoom(this.store, {
      keys: { active_runs: keys.activeRuns(account) },
      args: { now, room: Math.min(room, PAGE), run_prefix: keys.run('') },
    })) as string[];
    return flat.flatMap((run, at) =>
      at % 3 === 0 ? [{ run, count: Number(flat[at + 1]), acting: Number(flat[at + 2]) }] : [],
    );
  }

  /**
   * Dispatches targets, those whose wait is over before new ones: as many as the run's concurrency allows,
   * and at most `limit`. With `started`, none while one is acting, and new ones only while nothing of the run is in
   * progress. `acting`: how many were acting when `limit` was decided; what other processes dispatched since then
   * counts, so that two that were given the same room do not both use it.
   */
  async dispatch(
    run: string,
    now: number,
    limit: number,
    which: 'all' | 'started' = 'all',
    acting?: number,
  ): Promise<Dispatched[]> {
    const dispatched: Dispatched[] = [];
    while (dispatched.length < limit) {
      const left = limit - dispatched.length;
      const together = Math.min(left, DISPATCHED_TOGETHER);
      // Those that were dispatched just now are not another process's.
      const known = acting === undefined ? '' : acting + dispatched.length;
      const flat = (await dispatchTargets(this.store, {
        keys: keysOfRun(run),
        args: { now, limit: left, together, which, acting: known },
      })) as string[];
      for (let i = 0; i + 1 < flat.length; i += 2)
        dispatched.push({ id: flat[i] ?? '', fence: Number(flat[i + 1]) });
      if (flat.length < together * 2) break;
    }
    return dispatched;
  }

  /**
   * The clock went back from `before` to `now`: what waits until a time that was set meanwhile is due as much earlier,
   * which may be too early for what waited already, and then it waits again.
   */
  async takeBack(run: string, { now, before }: { now: number; before: number }): Promise<void> {
    await takeBackTargets(this.store, { keys: keysOfRun(run), args: { now, ahead: before - now } });
  }

  /**
   * Claims a dispatched target: raises its fence once more, so that an entry that was delivered twice is
   * worked on once. Gives nothing when the run is not running, or the target was claimed before or dispatched
   * again; and when a target of another run holds its site: then it waits, its detail names that run, and no
   * attempt is used up.
   */
  async claim(
    { id: run, account }: Pick<Run, 'id' | 'account'>,
    { id, fence }: Dispatched,
    now: number,
  ): Promise<Claimed | undefined> {
    const claimed = (await claimTarget(this.store, {
      keys: keysOfRun(run),
      args: {
        id,
        fence,
        now,
        run,
        retry_at: now + SITE_BUSY_MS,
        site_prefix: keys.site(account, ''),
        run_prefix: keys.run(''),
      },
    })) as [string, string | null] | null;
    if (!claimed) return undefined;
    const [json, ending] = claimed;
    const target: Target = parseRecord(Target, json, keys.targets(run));
    if (!isIn(target, 'acting')) return undefined;
    return {
      target,
      ...(ending ? { ending: checkRecord(z.enum(endingReasons), ending, keys.run(run)) } : {}),
    };
  }

  /** Renews a claim while work on the target goes on. False when it was lost: another worker may have it. */
  async renew(run: string, { id, fence }: Dispatched, now: number): Promise<boolean> {
    const renewed = await renewClaim(this.store, {
      keys: keysOfRun(run),
      args: { id, fence, now },
    });
    return renewed === 1;
  }

  /**
   * Records an intent before its request is sent, and gives the target's new fence. Nothing may be sent when
   * the target is no longer ours (`fenced`; also when Redis was restored to an older state, or its records
   * were migrated), or when its run was cancelled.
   */
  async noteIntent(
    run: string,
    { id, fence }: Dispatched,
    intent: Intent,
  ): Promise<number | 'fenced' | 'run-cancelled'> {
    const generation = this.generation.remembered;
    const [raised = 0, reached = 0] = (await noteIntent(this.store, {
      keys: { ...keysOfRun(run), generation: keys.generation, schema: keys.schema },
      args: {
        id,
        fence,
        intent: toJson(intent),
        generation_id: generation.id,
        generation: generation.number,
        records_version: RECORDS_VERSION,
      },
    })) as number[];
    if (reached > 0) this.generation.observe({ ...generation, number: reached });
    if (raised > 0) return raised;
    return raised === 0 ? 'fenced' : 'run-cancelled';
  }

  /**
   * Writes a target in its next state, with its indexes, the run's counts and its event, atomically.
   *
   * @param from the states it may come from; its fence must be the one in `target`.
   * @param spent requests that were sent for it, by operation.
   * @param dueAt for `waiting`, when it may be dispatched again.
   * @param effects what the target changed, by the service's answer: it belongs to no other target.
   * @param owner whose effects they are: the target, at the step that it was at.
   * @returns false when another process moved the target; the requests are counted nevertheless.
   */
  async move(
    run: Pick<Run, 'id' | 'account' | 'job'>,
    target: Target,
    {
      from,
      dueAt,
      spent = {},
      effects = [],
      owner = { run: run.id, target: target.id },
      at,
    }: {
      from: readonly TargetState[];
      dueAt?: number;
      spent?: Spent;
      effects?: readonly Effect[];
      owner?: Owner;
      at: number;
    },
  ): Promise<boolean> {
    const event: CaretakerEvent = {
      type: 'target.ended',
      run: run.id,
      target: target.id,
      outcome: target.outcome ?? '',
      reason: target.reason ?? '',
      at,
      job: run.job,
      ...('startedAt' in target && target.startedAt !== undefined && { startedAt: target.startedAt }),
    };
    const moved = await moveTarget(this.store, {
      keys: {
        ...keysOfRun(run.id),
        runs_of_target: keys.runsOfTarget(run.account, target.id),
        labels: keys.labels,
        events: keys.events,
        effects: effectsKey(run.account, at),
        outbox: keys.outbox(run.account),
        outbox_since: keys.outboxSince(run.account),
        outbox_accounts: keys.outboxAccounts,
      },
      args: {
        id: target.id,
        fence: target.fence,
        from: from.join(','),
        state: target.state,
        json: toJson(withoutSecrets(target)),
        score: dueAt ?? at,
        outcome: target.outcome ?? '',
        spent: JSON.stringify(spent),
        run: run.id,
        event: JSON.stringify(event),
        now: at,
        site_prefix: keys.site(run.account, ''),
        effects_ttl: EFFECTS_KEPT_MS,
        account: run.account,
        outbox_prefix: keys.outboxSite(run.account, ''),
        owner: ownerText(owner),
      },
      argList: effects.map(effectField),
    });
    return moved === 1;
  }

  async get(run: string, id: string): Promise<Target | undefined> {
    const [target] = await this.many(run, [id]);
    return target;
  }

  async many(run: string, ids: readonly string[]): Promise<Target[]> {
    if (ids.length === 0) return [];
    const key = keys.targets(run);
    const found = await this.store.hmget(key, ...ids);
    return found.flatMap((json) => (json ? [parseRecord(Target, json, key)] : []));
  }

  /** Of each target, what became of it in each of its runs; one command for each run. */
  async ofRuns(wanted: readonly (readonly [target: string, runs: readonly string[]])[]) {
    const idsOf = new Map<string, string[]>();
    for (const [target, runs] of wanted) {
      for (const run of runs) {
        const ids = idsOf.get(run) ?? [];
        ids.push(target);
        idsOf.set(run, ids);
      }
    }
    const read = await Promise.all(
      [...idsOf].map(async ([run, ids]) => {
        const found = await this.many(run, ids);
        return [run, new Map(found.map((one) => [one.id, one]))] as const;
      }),
    );
    const found = new Map(read);
    return wanted.map(([target, runs]) => runs.map((run) => found.get(run)?.get(target)));
  }

  /** The targets at `count` positions of the plan, from position `from` (0 is the first). */
  async slice(run: string, from: number, count: number): Promise<Target[]> {
    return this.many(run, await this.store.lrange(keys.order(run), from, from + count - 1));
  }

  /**
   * Of several runs, how many targets ended for which reason; in one round trip. Runs without any are there,
   * empty.
   */
  async reasons(runs: readonly string[]): Promise<Map<string, ReasonCount[]>> {
    const reads = this.store.pipeline();
    for (const run of runs) reads.hgetall(keys.reasons(run));
    const answers = (await reads.exec()) ?? [];
    return new Map(
      answers.map(([error, hash], index) => {
        if (error) throw error;
        const run = runs[index] ?? '';
        const counts = Object.entries(hash as Record<string, string>);
        return [run, counts.map((count) => toReasonCount(count, keys.reasons(run)))];
      }),
    );
  }

  /** All targets in plan order, read a page at a time. */
  async *all(run: string): AsyncGenerator<Target> {
    for (let offset = 0; ; offset += PAGE) {
      const ids = await this.store.lrange(keys.order(run), offset, offset + PAGE - 1);
      yield* await this.many(run, ids);
      if (ids.length < PAGE) return;
    }
  }

  /**
   * Targets in a state with a time, oldest first, at most `limit`; with `until`, only those at or before that
   * time.
   */
  async inState<S extends TimedState>(
    run: string,
    state: S,
    limit: number,
    until?: number,
  ): Promise<TargetIn<S>[]> {
    const ids = await this.store.zrange(
      keys[state](run),
      '-inf',
      String(until ?? '+inf'),
      'BYSCORE',
      'LIMIT',
      0,
      limit,
    );
    // One may have moved on since its index was read.
    return (await this.many(run, ids)).filter((target) => isIn(target, state));
  }

  /** Targets that were never dispatched, next ones first, at most `limit`. */
  async pending(run: string, limit: number): Promise<Target[]> {
    return this.many(run, await this.store.lrange(keys.pending(run), 0, limit - 1));
  }

  /** Targets whose time limit has passed, at most `limit`. */
  async late(run: string, now: number, limit: number): Promise<Target[]> {
    return this.many(
      run,
      await this.store.zrange(keys.deadlines(run), '-inf', String(now), 'BYSCORE', 'LIMIT', 0, limit),
    );
  }

  /** The latest runs that worked on a target, newest first. */
  runsOf(account: string, target: string): Promise<string[]> {
    return this.store.zrevrange(keys.runsOfTarget(account, target), 0, 19);
  }
}
