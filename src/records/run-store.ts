/**
 * Stores runs: one hash per run, indexes by time, policy and status, and the set of active runs.
 *
 * A move is applied only if the run's status still allows it, in one script with its indexes and its event,
 * so that two processes can never both end the same run.
 */
import { randomUUID } from 'node:crypto';
import { defined } from '../defined.ts';
import { type Store, toJson } from '../redis/store.ts';
import { isFinal, sourcesOf } from '../run/moves.ts';
import { type Held, type LookedUp, type Run, type RunStatus, runStatuses, type Spent } from '../run/run.ts';
import { scrub } from '../secrets.ts';
import { type RunStep, rejectedBy, stepFields } from './batch-store.ts';
import { hourOf } from './end-store.ts';
import { movedEvent } from './events.ts';
import { isAnyOf } from './filter-values.ts';
import { keys, keysOfRun } from './keys.ts';
import { forgetTargets } from './label-store.ts';
import type { ScheduledTime } from './ledger-store.ts';
import { type Notice, noticeText } from './notice-store.ts';
import { flat, fromHash, readNames } from './run-hash.ts';
import { idsContaining, placesOf, type RunQuery } from './run-query.ts';
import {
  countRequests,
  createRun,
  creations,
  holdRun,
  keepNames,
  moveRun,
  noteDetail,
  type RunLimits,
  releaseRun,
  retireAccount,
  setEnding,
} from './run-scripts.ts';

/** What else is decided when a run is created. */
export interface Creation {
  /** The ids of the only targets to plan. */
  only?: readonly string[] | undefined;
  /** The record of its scheduled time in the policy's ledger. */
  scheduledTime?: ScheduledTime | undefined;
  /** Which other active runs of the policy prevent the new run: any, or one that is already queued. */
  unless?: 'any' | 'waiting' | undefined;
  notice?: Notice | undefined;
}

/** What a move changes in addition to the status. */
export interface RunChange {
  at: number;
  detail?: string;
  deadline?: number;
  planComplete?: true;
  /** In how many targets a check found something. */
  found?: number;
  /** Only while this planning attempt is the latest: an older attempt cannot move the run. */
  planFence?: number;
  /** With the next `rollout` and `approvals`: see `RunStep`. */
  step?: RunStep;
  /** Written together with the move. */
  notice?: Notice | undefined;
}

/** How many are read or written at once. */
const PAGE = 500;
/** How many runs are removed at most per call. */
const MAX_PRUNED = 1_000;

export class RunStore {
  constructor(private readonly store: Store) {}

  /** Stores a new run. Returns what prevented it: it exists, another run is active, or its account has `moved`. */
  async create(
    run: Run,
    limits: RunLimits,
    { only = [], scheduledTime: firing, unless, notice }: Creation = {},
  ): Promise<(typeof creations)[number]> {
    const fields = Object.entries({
      ...flat(run),
      concurrency: limits.concurrency,
      targetMs: limits.targetMs,
      weight: limits.weight ?? 1,
      ...defined({ perClient: limits.perClient, perTag: limits.perTag }),
      ...(limits.record?.work ? { recordWork: 1 } : {}),
      ...(limits.record?.note ? { recordNote: 1 } : {}),
      ...(limits.record ? { recordNot: `,${limits.record.not.join()},` } : {}),
    }).flat();
    const created = await createRun(this.store, {
      keys: {
        run: keys.run(run.id),
        runs: keys.runs,
        runs_of_policy: keys.runsOfPolicy(run.policy),
        runs_in_status: keys.runsInStatus(run.status),
        active_runs: keys.activeRuns(run.account),
        active_accounts: keys.activeAccounts,
        events: keys.events,
        ledger: keys.ledger(run.policy),
        ledgers: keys.ledgers,
        // A list of its own: with thousands of ids, it must not be read each time the run is.
        only: keys.only(run.id),
        reasons: keys.reasons(run.id),
        totals: hourOf(run.finishedAt ?? run.createdAt),
        notices: keys.notices,
        addresses: keys.addresses,
      },
      args: {
        id: run.id,
        created_at: run.createdAt,
        active: isFinal(run.status) ? 0 : 1,
        account: run.account,
        address: run.address ?? '',
        move: randomUUID(),
        event: movedEvent(run, run.status, run.createdAt),
        policy: run.policy,
        overlap: unless ?? '',
        run_prefix: keys.run(''),
        scheduled_at: firing?.scheduledFor ?? '',
        record: firing ? toJson(firing) : '',
        backfill: run.trigger === 'backfill' ? 1 : 0,
        notice: noticeText(notice),
        field_count: fields.length,
      },
      argList: [...fields, ...only],
    });
    return creations[Number(created)] ?? 'exists';
  }

  /** The run ids with this text in them, newest first, at most `limit`; of the newest 20,000 runs. */
  containing(part: string, limit: number): Promise<string[]> {
    return idsContaining(this.store, part, limit);
  }

  async get(id: string): Promise<Run | undefined> {
    return fromHash(await this.store.hgetall(keys.run(id)));
  }

  /** The ids of the only targets to plan; none when the run covers everything that its policy selects. */
  only(id: string): Promise<string[]> {
    return this.store.lrange(keys.only(id), 0, -1);
  }

  /**
   * Whether the run shows that what failed before it is well. One that skipped all of its targets, because of a freeze or
   * maintenance, does not, and neither does one over some targets that a person named. A retry covers what failed.
   */
  async showsRecovery({ id, status, counts, retryOf }: Run): Promise<boolean> {
    if (status !== 'succeeded' || (counts.succeeded === 0 && counts.skipped > 0)) return false;
    return retryOf !== undefined || (await this.store.exists(keys.only(id))) === 0;
  }

  /** Newest first, runs of one time by id. A run that retention removed between reading the index and the run is missing. */
  async list({ sees, ...query }: RunQuery): Promise<Run[]> {
    const found: Run[] = [];
    const { limit } = query;
    for (let { after } = query; ; ) {
      const page = sees ? Math.max(limit, PAGE) : limit;
      const places = await placesOf(this.store, { ...query, after, limit: page });
      for (const run of await this.many(places.map(({ id }) => id))) {
        // Its status may have changed since its id was read.
        if (isAnyOf(query.status, (status) => run.status === status) && (sees?.(run) ?? true))
          found.push(run);
      }
      if (found.length >= limit || places.length < page) return found.slice(0, limit);
      after = places.at(-1);
    }
  }

  /**
   * The newest runs of a policy that ran this version of it, at most `limit`, among its last `among` runs. Reads whole
   * records only of those.
   */
  async ofVersion(
    { name, hash }: { name: string; hash: string },
    { limit, among }: { limit: number; among: number },
  ): Promise<Run[]> {
    const ids = await this.store.zrevrange(keys.runsOfPolicy(name), 0, among - 1);
    const reads = this.store.pipeline();
    for (const id of ids) reads.hget(keys.run(id), 'policyHash');
    const hashes = ids.length === 0 ? [] : ((await reads.exec()) ?? []);
    const same = ids.filter((_, at) => hashes[at]?.[1] === hash);
    return this.many(same.slice(0, limit));
  }

  /** The run ids with this prefix, newest first, at most `limit`. Scans the ids of all runs, page by page. */
  async startingWith(prefix: string, limit: number): Promise<string[]> {
    const pattern = `${prefix.replace(/[\\*?[\]]/g, '\\$&')}*`;
    const found = new Map<string, number>();
    let cursor = '0';
    do {
      const [next, page] = await this.store.zscan(keys.runs, cursor, 'MATCH', pattern, 'COUNT', PAGE);
      for (let at = 0; at + 1 < page.length; at += 2) found.set(page[at] ?? '', Number(page[at + 1]));
      cursor = next;
    } while (cursor !== '0');
    return [...found]
      .sort(([, a], [, b]) => b - a)
      .slice(0, limit)
      .map(([id]) => id);
  }

  /**
   * The runs of an account that have not ended, oldest first: all, or those of a policy or in a status. Then no others
   * are read, however many are active.
   */
  async active(account: string, only: { policy?: string; status?: RunStatus } = {}): Promise<Run[]> {
    const indexes = [keys.activeRuns(account)];
    if (only.policy !== undefined) indexes.push(keys.runsOfPolicy(only.policy));
    if (only.status !== undefined) indexes.push(keys.runsInStatus(only.status));
    const runs = await this.many(await this.store.zinter(indexes.length, indexes));
    return runs.sort((a, b) => a.createdAt - b.createdAt);
  }

  /** How many runs of an account have not ended. */
  countActive(account: string): Promise<number> {
    return this.store.scard(keys.activeRuns(account));
  }

  /** How many runs there are in each status; in one round trip. */
  async countByStatus(): Promise<Map<RunStatus, number>> {
    const reads = this.store.pipeline();
    for (const status of runStatuses) reads.zcard(keys.runsInStatus(status));
    const answers = (await reads.exec()) ?? [];
    return new Map(
      answers.flatMap(([error, count], index) => {
        if (error) throw error;
        const status = runStatuses[index];
        return status ? [[status, Number(count)] as const] : [];
      }),
    );
  }

  /** Removes an account from `activeAccounts` when it has no active run. */
  async retire(account: string): Promise<void> {
    await retireAccount(this.store, {
      keys: { active_runs: keys.activeRuns(account), active_accounts: keys.activeAccounts },
      args: { account },
    });
  }

  /** The accounts that have active runs. */
  activeAccounts(): Promise<string[]> {
    return this.store.smembers(keys.activeAccounts);
  }

  /** Those of these runs that exist. */
  async many(ids: readonly string[]): Promise<Run[]> {
    const hashes = await Promise.all(ids.map((id) => this.store.hgetall(keys.run(id))));
    return hashes.flatMap((hash) => fromHash(hash) ?? []);
  }

  /**
   * Moves a run to another status. False when its current status does not allow it: another process was
   * first.
   */
  async move(run: Run, to: RunStatus, change: RunChange): Promise<boolean> {
    const fields: (string | number)[] = ['movedAt', change.at];
    if (change.detail !== undefined) fields.push('detail', scrub(change.detail));
    if (change.deadline !== undefined) fields.push('deadline', change.deadline);
    if (change.found) fields.push('found', change.found);
    if (change.planComplete) fields.push('planComplete', 1);
    if (to === 'planning' && run.startedAt === undefined) fields.push('startedAt', change.at);
    if (isFinal(to)) fields.push('finishedAt', change.at);
    if (change.step) fields.push(...stepFields(change.step));
    const moved = await moveRun(this.store, {
      keys: {
        ...keysOfRun(run.id),
        active_runs: keys.activeRuns(run.account),
        events: keys.events,
        runs: keys.runs,
        totals: hourOf(change.at),
        ends: keys.ends(run.policy),
        notices: keys.notices,
      },
      args: {
        id: run.id,
        to,
        final: isFinal(to) ? 1 : 0,
        from: sourcesOf(to).join(','),
        event: movedEvent(run, to, change.at),
        status_prefix: keys.runsInStatus(''),
        move: randomUUID(),
        plan_fence: change.planFence ?? '',
        ended_at: isFinal(to) && to !== 'skipped' ? change.at : '',
        step: change.step?.from ?? '',
        notice: noticeText(change.notice),
        ...rejectedBy(change.step),
      },
      argList: fields,
    });
    return moved === 1;
  }

  /**
   * Marks that nothing new is to be released in this run, and with `cancelTasks` that its tasks in the
   * service are to be cancelled; the first reason given stays.
   */
  async end(
    run: Run,
    ending: NonNullable<Run['ending']>,
    detail: string,
    { cancelTasks = false }: { cancelTasks?: boolean } = {},
  ): Promise<void> {
    await setEnding(this.store, {
      keys: { run: keys.run(run.id) },
      args: { ending, detail: scrub(detail), cancel_tasks: cancelTasks ? 1 : 0 },
    });
  }

  /**
   * Holds a run that has not ended: nothing of it is started until it is released. False when it is already
   * held or no longer exists.
   */
  async hold(run: Run, held: Held, detail: string): Promise<boolean> {
    const event = movedEvent(run, run.status, held.at);
    const isHeld = await holdRun(this.store, {
      keys: { run: keys.run(run.id), events: keys.events },
      args: { held: JSON.stringify(held), detail, event },
    });
    return isHeld === 1;
  }

  /** Continues a held run. False when it is not held (any more). */
  async release(run: Run, at: number): Promise<boolean> {
    const event = movedEvent(run, run.status, at);
    const released = await releaseRun(this.store, {
      keys: { run: keys.run(run.id), events: keys.events },
      args: { event },
    });
    return released === 1;
  }

  /** Of each account, in their order: how many runs have not ended, and the ids of those of them that are held. */
  async held(accounts: readonly string[]): Promise<{ active: number; held: string[] }[]> {
    const active = await Promise.all(accounts.map((one) => this.store.smembers(keys.activeRuns(one))));
    const ids = active.flat();
    const flags = await Promise.all(ids.map((id) => this.store.hexists(keys.run(id), 'held')));
    const held = new Set(ids.filter((_, index) => flags[index] === 1));
    return active.map((own) => ({ active: own.length, held: own.filter((id) => held.has(id)).sort() }));
  }

  /**
   * Records why a run waits, unless it ends, has ended or is held: those have a detail of their own. With `step`, only
   * while the run has made this many steps, and until its next one.
   */
  async note(id: string, detail: string, { step }: { step?: number } = {}): Promise<void> {
    await noteDetail(this.store, {
      keys: { run: keys.run(id) },
      args: { detail: scrub(detail), step: step ?? '' },
    });
  }

  /**
   * Records the ids that the names in a run's policy stand for. An earlier plan of the run may have done so
   * already: its ids stay. Returns those that are recorded.
   */
  async keepNames(id: string, names: readonly LookedUp[]): Promise<LookedUp[]> {
    const key = keys.run(id);
    const call = { keys: { run: key }, args: { names: JSON.stringify(names) } };
    return readNames(String(await keepNames(this.store, call)), key);
  }

  /** Removes the detail that said why a run waits. */
  async clearDetail(id: string): Promise<void> {
    await this.store.hdel(keys.run(id), 'detail');
  }

  /** Counts requests that were sent for a run. */
  async countRequests(id: string, spent: Spent): Promise<void> {
    if (Object.keys(spent).length > 0)
      await countRequests(this.store, {
        keys: { run: keys.run(id) },
        args: { spent: JSON.stringify(spent) },
      });
  }

  /** Removes ended runs created before `before` with all their records, at most 1,000. Returns how many. */
  async prune(before: number): Promise<number> {
    let removed = 0;
    const old = `(${before}`;
    for (const id of await this.store.zrange(keys.runs, '-inf', old, 'BYSCORE', 'LIMIT', 0, MAX_PRUNED)) {
      const run = await this.get(id);
      if (run && !isFinal(run.status)) continue;
      if (run) {
        await forgetTargets(this.store, run);
        await this.store.zrem(keys.runsOfPolicy(run.policy), id);
        await this.store.zrem(keys.ends(run.policy), id);
        await this.store.zrem(keys.runsInStatus(run.status), id);
      }
      await this.store.unlink(...Object.values(keysOfRun(id)));
      await this.store.zrem(keys.runs, id);
      removed += 1;
    }
    return removed;
  }
}
