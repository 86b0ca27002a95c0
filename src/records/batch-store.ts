/**
 * The batches of runs (`rollout`) and their approvals: which targets belong to batches that have not begun, the steps
 * from one batch to the next, and what the gates saw.
 */
import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { defineScript } from '../redis/script.ts';
import type { Store } from '../redis/store.ts';
import { type Approval, type Rollout, Seen } from '../run/rollout.ts';
import { type Run, Target } from '../run/run.ts';
import { scrub } from '../secrets.ts';
import { movedEvent } from './events.ts';
import { keys, keysOfRun } from './keys.ts';
import { ADD_NOTICE, type Notice, noticeText } from './notice-store.ts';
import { parseRecord } from './parse-record.ts';

// The scripts that put the targets of a plan into batches, reject some of them, and go from one batch to the next.

/** The scores of the targets of a batch begin at its number times this. */
const PER_BATCH = 1_000_000;

/**
 * For the head of a script with the keys `later` and `rejected`: `reject(ids as JSON or '', detail)`. A rejected target
 * belongs to no batch any more, so it cannot be dispatched. It gets its outcome after that: see `rejected.ts` of the
 * engine.
 */
export const REJECT = `
local function reject(ids, detail)
  if ids == '' then return end
  for _, id in ipairs(cjson.decode(ids)) do
    if redis.call('ZREM', keys.later, id) == 1 then redis.call('HSET', keys.rejected, id, detail) end
  end
end`;

/**
 * `status`, `step`: those that the caller read; `begins`: the batch whose targets may be dispatched now, or '';
 * `name`: by which a step that was already made is recognized when its command is sent again; `rejects`: ids of targets
 * as JSON, or ''; `gate`: the batch whose gate has `seen` this, or ''; `detail`: why the run waits, until its next step,
 * or ''. Gives 0, and changes nothing, when another process was first, or the run is held or ending.
 */
const stepRun = defineScript(
  {
    keys: ['run', 'pending', 'later', 'rejected', 'gates', 'events', 'notices'],
    args: ['status', 'step', 'begins', 'name', 'event', 'rejects', 'why', 'gate', 'seen', 'detail', 'notice'],
    argList: 'fields',
  },
  `${ADD_NOTICE}${REJECT}
local status, step, held, ending, last =
  unpack(redis.call('HMGET', keys.run, 'status', 'step', 'held', 'ending', 'lastStep'))
if last == args.name then return 1 end
if status ~= args.status or (step or '0') ~= args.step or held or ending then return 0 end
if args.begins ~= '' then
  local first = tonumber(args.begins) * ${PER_BATCH}
  local last = '(' .. string.format('%.0f', first + ${PER_BATCH})
  local ids = redis.call('ZRANGEBYSCORE', keys.later, first, last)
  for at = 1, #ids, 1000 do
    redis.call('RPUSH', keys.pending, unpack(ids, at, math.min(at + 999, #ids)))
  end
  redis.call('ZREMRANGEBYSCORE', keys.later, first, last)
end
reject(args.rejects, args.why)
if args.gate ~= '' then redis.call('HSET', keys.gates, args.gate, args.seen) end
if redis.call('HDEL', keys.run, 'detailOfStep') == 1 then redis.call('HDEL', keys.run, 'detail') end
if args.detail ~= '' then redis.call('HSET', keys.run, 'detail', args.detail, 'detailOfStep', 1) end
redis.call('HSET', keys.run, 'lastStep', args.name, unpack(fields))
redis.call('HINCRBY', keys.run, 'step', 1)
add_notice(keys.notices, args.notice)
redis.call('PUBLISH', keys.events, args.event)
return 1`,
);

/**
 * `placed`: id, batch and position in the plan of each in turn, a page of them; `is_first`, `is_last`: 1 for the first
 * and the last page. What an interrupted attempt at planning has placed is forgotten first. Gives 0 when another
 * attempt at planning has begun.
 */
const placeTargets = defineScript(
  {
    keys: ['run', 'targets', 'pending', 'later'],
    args: ['plan_fence', 'is_first', 'is_last'],
    argList: 'placed',
  },
  `
if redis.call('HGET', keys.run, 'planFence') ~= args.plan_fence then return 0 end
if args.is_first == '1' then redis.call('DEL', keys.later) end
for i = 1, #placed, 3 do
  local id, batch, position = unpack(placed, i, i + 2)
  local target = cjson.decode(redis.call('HGET', keys.targets, id))
  target.batch = tonumber(batch)
  redis.call('HSET', keys.targets, id, cjson.encode(target))
  redis.call('ZADD', keys.later, tonumber(batch) * ${PER_BATCH} + tonumber(position), id)
end
if args.is_last == '1' then redis.call('DEL', keys.pending) end
return 1`,
);

/**
 * The next `rollout` and `approvals` of a run, and the number of steps that they were made from: they are written only
 * while it is the same, and the run is neither held nor ending.
 */
export interface RunStep {
  from: number;
  rollout?: Rollout;
  approvals?: Approval[];
  /** Targets of batches that have not begun, which are rejected with it; `detail` says by whom. */
  rejects?: { ids: readonly string[]; detail: string };
}

/** As arguments of a script. */
export const rejectedBy = ({ rejects }: Partial<RunStep> = {}): { rejects: string; why: string } => ({
  rejects: rejects ? JSON.stringify(rejects.ids) : '',
  why: scrub(rejects?.detail ?? ''),
});

/** As fields of the hash of the run. */
export const stepFields = ({ rollout, approvals }: RunStep): (string | number)[] => [
  ...(rollout ? ['rollout', JSON.stringify(rollout)] : []),
  ...(approvals ? ['approvals', JSON.stringify(approvals)] : []),
];

/** What a step changes in addition to `rollout` and `approvals`. */
export interface StepChange {
  at: number;
  begins?: number;
  deadline?: number;
  ending?: Run['ending'];
  detail?: string;
  seen?: { batch: number; targets: readonly Seen[] };
  notice?: Notice | undefined;
}

const PAGE = 200;

export class BatchStore {
  constructor(private readonly store: Store) {}

  /**
   * Puts a page of targets into their batches, in the order of the plan: none of them is dispatched before its batch
   * begins. With the last page, nothing of the plan is pending any more. False when another attempt at planning has
   * begun.
   */
  async place(
    run: string,
    planFence: number,
    placed: readonly { id: string; batch: number; position: number }[],
    { isFirst, isLast }: { isFirst: boolean; isLast: boolean },
  ): Promise<boolean> {
    const done = await placeTargets(this.store, {
      keys: keysOfRun(run),
      args: { plan_fence: planFence, is_first: isFirst ? 1 : 0, is_last: isLast ? 1 : 0 },
      argList: placed.flatMap(({ id, batch, position }) => [id, batch, position]),
    });
    return done === 1;
  }

  /** The ids of the targets of batches that have not begun, or of one of them, in the order of the plan. */
  laterIds(run: string, batch?: number): Promise<string[]> {
    const [from, to] =
      batch === undefined ? ['-inf', '+inf'] : [`${batch * PER_BATCH}`, `(${(batch + 1) * PER_BATCH}`];
    return this.store.zrange(keys.later(run), from, to, 'BYSCORE');
  }

  /** Pages of targets that were rejected and have no outcome yet: by their ids, the detail of it. */
  async *rejected(run: string): AsyncGenerator<Map<string, string>> {
    let cursor = '0';
    do {
      const [next, page] = await this.store.hscan(keys.rejected(run), cursor, 'COUNT', PAGE);
      const found = new Map<string, string>();
      for (let at = 0; at + 1 < page.length; at += 2) found.set(page[at] ?? '', page[at + 1] ?? '');
      if (found.size > 0) yield found;
      cursor = next;
    } while (cursor !== '0');
  }

  /** Targets of batches that have not begun, next ones first, at most `limit`. */
  async later(run: string, limit: number): Promise<Target[]> {
    const ids = await this.store.zrange(keys.later(run), '-inf', '+inf', 'BYSCORE', 'LIMIT', 0, limit);
    if (ids.length === 0) return [];
    const key = keys.targets(run);
    const found = await this.store.hmget(key, ...ids);
    return found.flatMap((json) => (json ? [parseRecord(Target, json, key)] : []));
  }

  /** How many targets of a batch have not begun and were not rejected. */
  countOf(run: string, batch: number): Promise<number> {
    return this.store.zcount(keys.later(run), batch * PER_BATCH, `(${(batch + 1) * PER_BATCH}`);
  }

  /** How many targets belong to batches that have not begun. */
  countLater(run: string): Promise<number> {
    return this.store.zcard(keys.later(run));
  }

  /**
   * Makes a step of a run that keeps its status: its batches and approvals change, and with `begins` the targets of
   * that batch (from 1) may be dispatched. `ending` is as in `end`; `seen`: what the gate after a batch (from 1) saw;
   * `detail` says why the run waits until its next step. False when another process was first, or the run is held or
   * ending: then nothing has changed.
   */
  async step(
    run: Run,
    step: RunStep,
    { at, begins, deadline, ending, detail, seen, notice }: StepChange,
  ): Promise<boolean> {
    const fields = [...stepFields(step)];
    if (deadline !== undefined) fields.push('deadline', deadline);
    if (ending !== undefined) fields.push('ending', ending);
    const made = await stepRun(this.store, {
      keys: { ...keysOfRun(run.id), events: keys.events, notices: keys.notices },
      args: {
        status: run.status,
        step: step.from,
        begins: begins ?? '',
        name: randomUUID(),
        event: movedEvent(run, run.status, at),
        ...rejectedBy(step),
        gate: seen?.batch ?? '',
        seen: JSON.stringify(seen?.targets ?? []),
        detail: scrub(detail ?? ''),
        notice: noticeText(notice),
      },
      argList: fields,
    });
    return made === 1;
  }

  /** What the gates saw, by the batch before each, from 1. */
  async gates(id: string): Promise<Map<number, Seen[]>> {
    const key = keys.gates(id);
    const found = Object.entries(await this.store.hgetall(key));
    return new Map(
      found.map(([batch, json]) => [Number(batch), parseRecord(z.array(Seen), json, key)] as const),
    );
  }
}
