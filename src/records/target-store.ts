/**
 * The plan of a run and what became of each of its targets, paged: no call reads or writes more than a page
 * at once.
 *
 * A target is handed out by `release`, which raises its step; whoever has it proves that by the step in every
 * later call. A worker that lost its place therefore can neither write an intent nor an outcome.
 */

import { z } from 'zod';
import { runScript } from '../redis/script.ts';
import { type Store, toJson } from '../redis/store.ts';
import {
  endings,
  type Intent,
  isIn,
  type Run,
  type Spent,
  type Spread,
  Target,
  type TargetIn,
  type TargetState,
} from '../run/run.ts';
import { EFFECTS_KEPT_MS, type Effect, effectField, effectsKey } from './effect-store.ts';
import type { CaretakerEvent } from './events.ts';
import { GenerationStore } from './generation-store.ts';
import { keys } from './keys.ts';
import { RECORDS_VERSION } from './migrations/migrations.ts';
import { checkRecord, parseRecord } from './parse-record.ts';
import { type ReasonCount, toReasonCount } from './reason-count.ts';
import {
  ADD_LEFT_OUT,
  ADD_TARGETS,
  ALLOT,
  BEGIN_PLAN,
  CLAIM,
  COUNT_PLAN_FAILURE,
  NOTE_INTENT,
  RELEASE,
  RENEW,
  SETTLE,
  SPREAD,
} from './target-scripts.ts';
import { withoutSecrets } from './target-secrets.ts';
import { type Allocated, type Claimed, LeftOut, type Released, type TimedState } from './target-types.ts';

const PAGE = 500;
/** So soon a target is handed out again that waits for another run to be done with its site. */
const SITE_BUSY_MS = 5_000;

export class TargetStore {
  constructor(
    private readonly store: Store,
    /** Raised with every intent: an older state of Redis then shows a smaller number. */
    private readonly generation = new GenerationStore(store),
  ) {}

  /**
   * Starts a plan afresh and gives the step that proves it is ours; an earlier attempt can add nothing any
   * more. Gives 0, and leaves everything as it is, when the run has its plan already or has ended.
   */
  async beginPlan(run: string): Promise<number> {
    return Number(
      await runScript(
        this.store,
        BEGIN_PLAN,
        [
          keys.run(run),
          keys.order(run),
          keys.targets(run),
          keys.pending(run),
          keys.leftOut(run),
          keys.reasons(run),
        ],
        [],
      ),
    );
  }

  /**
   * Counts an attempt at planning that failed otherwise than by an outage; gives how many there were. 0 for a
   * run that is gone.
   */
  async countPlanFailure(run: string): Promise<number> {
    return Number(await runScript(this.store, COUNT_PLAN_FAILURE, [keys.run(run)], []));
  }

  /**
   * Adds targets to a plan in their order, each id once; ended ones count at once. False when the plan is no
   * longer ours.
   */
  async add(run: string, planStep: number, targets: readonly Target[]): Promise<boolean> {
    const added = await runScript(
      this.store,
      ADD_TARGETS,
      [keys.run(run), keys.targets(run), keys.order(run), keys.pending(run), keys.reasons(run)],
      [String(planStep), ...targets.flatMap((target) => [target.id, toJson(target), target.outcome ?? ''])],
    );
    return added === 1;
  }

  /**
   * Has the targets that are still to be begun start evenly over a window, in an order that is the same for
   * the same ids. Called once the plan is whole; does nothing when it is no longer ours. Holds Redis up for
   * some 5 ms per 1,000.
   */
  async spread(run: string, planStep: number, { from, ms }: Pick<Spread, 'from' | 'ms'>): Promise<void> {
    await runScript(this.store, SPREAD, [keys.run(run), keys.pending(run)], [String(planStep), from, ms]);
  }

  /** Adds what was looked at and is not part of a plan; does nothing when the plan is no longer ours. */
  async addLeftOut(run: string, planStep: number, leftOut: readonly LeftOut[]): Promise<void> {
    if (leftOut.length === 0) return;
    const found = leftOut.map((one) => JSON.stringify(one));
    await runScript(
      this.store,
      ADD_LEFT_OUT,
      [keys.run(run), keys.leftOut(run)],
      [String(planStep), ...found],
    );
  }

  /** How much was looked at and is not part of the plan. */
  countLeftOut(run: string): Promise<number> {
    return this.store.llen(keys.leftOut(run));
  }

  async leftOut(run: string, offset: number, count: number): Promise<LeftOut[]> {
    const page = await this.store.lrange(keys.leftOut(run), offset, offset + count - 1);
    return page.map((json) => parseRecord(LeftOut, json, keys.leftOut(run)));
  }

  /**
   * Divides what the account may send among its runs, by their weight and what each has in flight: how many
   * targets each may hand out. At most `room` and a page in all.
   */
  async allot(account: string, now: number, room: number): Promise<Allocated[]> {
    const args = [now, Math.min(room, PAGE), keys.run('')];
    const flat = (await runScript(this.store, ALLOT, [keys.activeRuns(account)], args)) as string[];
    return flat.flatMap((run, at) =>
      at % 3 === 0 ? [{ run, count: Number(flat[at + 1]), acting: Number(flat[at + 2]) }] : [],
    );
  }

  /**
   * Hands out targets, those whose wait is over before new ones: as many as the run's concurrency has room
   * for, and at most `atMost`. With `begun`, new ones only while nothing of the run is under way. What others
   * handed out since the run had so many `acting` counts: two who were allotted the same room do not both use
   * it.
   */
  async release(
    run: string,
    now: number,
    atMost: number,
    which: 'all' | 'begun' = 'all',
    acting?: number,
  ): Promise<Released[]> {
    const flat = (await runScript(
      this.store,
      RELEASE,
      [
        keys.run(run),
        keys.targets(run),
        keys.pending(run),
        keys.acting(run),
        keys.following(run),
        keys.waiting(run),
        keys.deadlines(run),
      ],
      [now, Math.min(atMost, PAGE), which, acting ?? ''],
    )) as string[];
    const released: Released[] = [];
    for (let i = 0; i + 1 < flat.length; i += 2)
      released.push({ id: flat[i] ?? '', step: Number(flat[i + 1]) });
    return released;
  }

  /**
   * Begins work on a target that was handed out: raises its step once more, so that an entry delivered twice
   * is worked on once. Nothing when the run does not go on at present, or the target was claimed before, or
   * handed out again meanwhile; and when a target of another run is at work on its site: then it waits, with
   * no attempt used up, and says for which run.
   */
  async claim(
    { id: run, account }: Pick<Run, 'id' | 'account'>,
    { id, step }: Released,
    now: number,
  ): Promise<Claimed | undefined> {
    const claimed = (await runScript(
      this.store,
      CLAIM,
      [keys.targets(run), keys.acting(run), keys.waiting(run), keys.run(run)],
      [id, step, now, run, now + SITE_BUSY_MS, keys.site(account, ''), keys.run('')],
    )) as [string, string | null] | null;
    if (!claimed) return undefined;
    const [json, ending] = claimed;
    const target: Target = parseRecord(Target, json, keys.targets(run));
    if (!isIn(target, 'acting')) return undefined;
    return {
      target,
      ...(ending ? { ending: checkRecord(z.enum(endings), ending, keys.run(run)) } : {}),
    };
  }

  /** Keeps a claim while work on the target goes on. False when it was lost: others may have it by now. */
  async renew(run: string, { id, step }: Released, now: number): Promise<boolean> {
    return (await runScript(this.store, RENEW, [keys.targets(run), keys.acting(run)], [id, step, now])) === 1;
  }

  /**
   * Writes the note that stands before an effect, and gives the target's new step. When the target is no
   * longer ours (`fenced`; also when Redis was put back to an older state, or its records were migrated), or
   * its run was cancelled meanwhile, nothing may be sent.
   */
  async noteIntent(
    run: string,
    { id, step }: Released,
    intent: Intent,
  ): Promise<number | 'fenced' | 'called-off'> {
    const { id: generation, number } = this.generation.remembered;
    const [raised = 0, reached = 0] = (await runScript(
      this.store,
      NOTE_INTENT,
      [keys.targets(run), keys.run(run), keys.generation, keys.schema],
      [id, step, toJson(intent), generation, number, RECORDS_VERSION],
    )) as number[];
    if (reached > 0) this.generation.saw(reached);
    if (raised > 0) return raised;
    return raised === 0 ? 'fenced' : 'called-off';
  }

  /**
   * Moves a target on, with its indexes, the run's counts and its event, in one step.
   *
   * @param from the states it may come from; the step must be the one in `target`.
   * @param spent requests that were sent for it, by operation.
   * @param dueAt for `waiting`, when it may be handed out again.
   * @param effects what the target has brought about, as the service answered: from here on it is nobody
   * else's.
   * @returns false when the target was moved by somebody else meanwhile; the requests are counted all the
   * same.
   */
  async settle(
    run: Pick<Run, 'id' | 'account'>,
    target: Target,
    {
      from,
      dueAt,
      spent = {},
      effects = [],
      at,
    }: {
      from: readonly TargetState[];
      dueAt?: number;
      spent?: Spent;
      effects?: readonly Effect[];
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
    };
    const settled = await runScript(
      this.store,
      SETTLE,
      [
        keys.run(run.id),
        keys.targets(run.id),
        keys.pending(run.id),
        keys.acting(run.id),
        keys.following(run.id),
        keys.waiting(run.id),
        keys.deadlines(run.id),
        keys.runsOfTarget(run.account, target.id),
        keys.events,
        keys.reasons(run.id),
        effectsKey(run.account, at),
      ],
      [
        target.id,
        target.step,
        from.join(','),
        target.state,
        toJson(withoutSecrets(target)),
        dueAt ?? at,
        target.outcome ?? '',
        JSON.stringify(spent),
        run.id,
        JSON.stringify(event),
        at,
        keys.site(run.account, ''),
        EFFECTS_KEPT_MS,
        ...effects.map(effectField),
      ],
    );
    return settled === 1;
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
   * Targets in a timed state, oldest moment first, at most `limit`; `until` keeps those at or before a
   * moment.
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

  /** Targets that nobody has been handed yet, next ones first, at most `limit`. */
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

  /** The runs that worked on a target lately, newest first. */
  runsOf(account: string, target: string): Promise<string[]> {
    return this.store.zrevrange(keys.runsOfTarget(account, target), 0, 19);
  }
}
