/**
 * Stores the plan of a run while it is made. Each attempt at planning has a number, the plan's fence: once another
 * attempt has begun, it can add nothing more.
 *
 * With what it adds, an attempt stores how far it has come. So the next attempt continues from there, and requests
 * nothing again that was processed.
 */
import { z } from 'zod';
import { defineScript } from '../redis/script.ts';
import { COUNT_REQUESTS, type Store, toJson } from '../redis/store.ts';
import type { Spent, Spread, Target } from '../run/run.ts';
import type { Group } from './group-places.ts';
import { keys, keysOfRun } from './keys.ts';
import { parseRecord } from './parse-record.ts';
import type { Excluded } from './target-types.ts';

// The scripts that store the plan of a run, each atomic.

/**
 * Adds to a plan. Gives 0 when another attempt at planning has begun.
 *
 * - `targets`: id, JSON, outcome ('' = pending) and groups ('' = none) of each in turn. A target that is already
 *   there stays as it is: the command may have been sent again, and the counts must add up.
 * - `excluded`: candidates that are not part of the plan, as JSON; `excluded_before`: how many there were before them.
 * - `progress`: JSON, or '' when what has been added so far ends between two items of the list; `listed`: the names of
 *   the items that are processed since the last progress; `counts`: field, value, field, value, ...
 */
export const addToPlan = defineScript(
  {
    keys: ['run', 'targets', 'order', 'pending', 'reasons', 'groups', 'excluded', 'progress', 'listed'],
    args: ['plan_fence', 'excluded_before', 'progress', 'excluded', 'listed', 'counts'],
    argList: 'targets',
  },
  `
if redis.call('HGET', keys.run, 'planFence') ~= args.plan_fence then return 0 end
-- One command for all, where there are any.
local function with_all(command, key, values)
  for at = 1, #values, 1000 do redis.call(command, key, unpack(values, at, math.min(at + 999, #values))) end
end
local function count_in(counts, name) counts[name] = (counts[name] or 0) + 1 end
local ids, known, added, ordered, grouped, pending, outcomes, reasons = {}, {}, {}, {}, {}, {}, {}, {}
for i = 1, #targets, 4 do ids[#ids + 1] = targets[i] end
for at, json in ipairs(#ids > 0 and redis.call('HMGET', keys.targets, unpack(ids)) or {}) do known[ids[at]] = json end
for i = 1, #targets, 4 do
  local id, json, outcome, groups = unpack(targets, i, i + 3)
  if not known[id] then
    known[id] = json
    ordered[#ordered + 1] = id
    added[#added + 1], added[#added + 2] = id, json
    if groups ~= '' then grouped[#grouped + 1], grouped[#grouped + 2] = id, groups end
    if outcome == '' then pending[#pending + 1] = id
    else
      count_in(outcomes, outcome)
      local reason = cjson.decode(json).reason
      if reason then count_in(reasons, outcome .. ' ' .. reason) end
    end
  end
end
with_all('HSET', keys.targets, added)
with_all('HSET', keys.groups, grouped)
with_all('RPUSH', keys.order, ordered)
with_all('RPUSH', keys.pending, pending)
if #ordered > 0 then redis.call('HINCRBY', keys.run, 'planned', #ordered) end
for outcome, count in pairs(outcomes) do redis.call('HINCRBY', keys.run, outcome, count) end
for reason, count in pairs(reasons) do redis.call('HINCRBY', keys.reasons, reason, count) end
if redis.call('LLEN', keys.excluded) == tonumber(args.excluded_before) then
  with_all('RPUSH', keys.excluded, cjson.decode(args.excluded))
end
if args.progress == '' then return 1 end
with_all('SADD', keys.listed, cjson.decode(args.listed))
with_all('HSET', keys.progress, cjson.decode(args.counts))
redis.call('HSET', keys.progress, 'progress', args.progress, 'fence', args.plan_fence, 'order', redis.call('LLEN', keys.order),
  'pending', redis.call('LLEN', keys.pending), 'excluded', redis.call('LLEN', keys.excluded))
return 1`,
);

const MAY_BEGIN = `
local status, complete, latest = unpack(redis.call('HMGET', keys.run, 'status', 'planComplete', 'planFence'))
local may_begin = not complete and (status == 'queued' or status == 'planning' or status == 'blocked')`;

/**
 * `filled`: all keys that a plan fills. Gives the fence of this attempt at planning: earlier attempts can add
 * nothing more. Gives 0, and changes nothing, once a plan is complete or the run has ended: targets may
 * already be dispatched.
 */
export const beginPlan = defineScript(
  { keys: ['run'], keyList: 'filled' },
  `${MAY_BEGIN}
if not may_begin then return 0 end
redis.call('UNLINK', unpack(filled))
redis.call('HSET', keys.run, 'planned', 0, 'succeeded', 0, 'failed', 0, 'skipped', 0, 'cancelled', 0)
return redis.call('HINCRBY', keys.run, 'planFence', 1)`,
);

/**
 * The same for an attempt that continues the one before. What that one added after its last progress is removed: the
 * item of the list to which it belongs was not processed to its end. Gives 0 when there is no progress, so that the
 * plan has to begin.
 */
export const continuePlan = defineScript(
  { keys: ['run', 'targets', 'order', 'pending', 'reasons', 'groups', 'excluded', 'planned', 'progress'] },
  `${MAY_BEGIN}
local fence, ordered, pending, excluded = unpack(redis.call('HMGET', keys.progress, 'fence', 'order', 'pending', 'excluded'))
if not may_begin or not ordered or fence ~= latest then return 0 end
for _, id in ipairs(redis.call('LRANGE', keys.order, ordered, -1)) do
  local target = cjson.decode(redis.call('HGET', keys.targets, id))
  redis.call('HDEL', keys.targets, id)
  redis.call('HDEL', keys.groups, id)
  redis.call('HDEL', keys.planned, id)
  redis.call('HINCRBY', keys.run, 'planned', -1)
  if target.outcome then
    redis.call('HINCRBY', keys.run, target.outcome, -1)
    local reason = target.outcome .. ' ' .. (target.reason or '')
    if redis.call('HEXISTS', keys.reasons, reason) == 1 and redis.call('HINCRBY', keys.reasons, reason, -1) <= 0 then
      redis.call('HDEL', keys.reasons, reason)
    end
  end
end
local function shorten(list, length)
  if length == '0' then redis.call('DEL', list) else redis.call('LTRIM', list, 0, length - 1) end
end
shorten(keys.order, ordered)
shorten(keys.pending, pending)
shorten(keys.excluded, excluded)
fence = redis.call('HINCRBY', keys.run, 'planFence', 1)
redis.call('HSET', keys.progress, 'fence', fence)
return fence`,
);

/** `spent`: requests by operation, JSON; `targets`: noted only while this attempt is the latest. */
export const notePlan = defineScript(
  { keys: ['run'], args: ['plan_fence', 'spent', 'targets'] },
  `${COUNT_REQUESTS}
if redis.call('EXISTS', keys.run) == 0 then return end
count_requests(keys.run, args.spent)
local requests = 0
for _, count in pairs(cjson.decode(args.spent)) do requests = requests + count end
redis.call('HINCRBY', keys.run, 'planRequests', requests)
if redis.call('HGET', keys.run, 'planFence') == args.plan_fence then
  redis.call('HSET', keys.run, 'planTargets', args.targets)
end`,
);

export const countPlanFailure = defineScript(
  { keys: ['run'] },
  `
if redis.call('EXISTS', keys.run) == 0 then return 0 end
return redis.call('HINCRBY', keys.run, 'planFailures', 1)`,
);

/**
 * Puts the pending targets into their order: those of `first` before the others, and with `window_ms` by a hash of their
 * ids, to be started evenly over a window by `dispatchTargets`. Gives 0 when another attempt at planning has begun. An
 * attempt after this one begins anew, because its progress counts on the order of before.
 */
export const orderTargets = defineScript(
  { keys: ['run', 'pending', 'progress'], args: ['plan_fence', 'from', 'window_ms'], argList: 'first' },
  `
if redis.call('HGET', keys.run, 'planFence') ~= args.plan_fence then return 0 end
redis.call('DEL', keys.progress)
local ids = redis.call('LRANGE', keys.pending, 0, -1)
local rank, places = {}, {}
for _, id in ipairs(first) do rank[id] = 0 end
for place, id in ipairs(ids) do
  rank[id] = rank[id] or 1
  places[id] = args.window_ms == '' and place or redis.sha1hex(id)
end
table.sort(ids, function(a, b)
  if rank[a] ~= rank[b] then return rank[a] < rank[b] end
  return places[a] < places[b]
end)
redis.call('DEL', keys.pending)
for at = 1, #ids, 1000 do
  redis.call('RPUSH', keys.pending, unpack(ids, at, math.min(at + 999, #ids)))
end
if args.window_ms ~= '' then
  redis.call('HSET', keys.run, 'spreadFrom', args.from, 'spreadMs', args.window_ms, 'spreadOf', #ids)
end
return 1`,
);

/** How far a plan is made. */
export const Progress = z.object({
  /** Where to read the list on: see `client/pages.ts`. */
  position: z.object({ round: z.number(), page: z.number(), totals: z.array(z.number()).readonly() }),
  /** The time by which candidates are evaluated: that of the first attempt. */
  now: z.number(),
  /** How many targets the candidates became; the rest of the plan already has its outcome. */
  targets: z.number(),
  seen: z.object({ candidates: z.number(), parents: z.number(), unseen: z.array(z.string()).readonly() }),
  viewsLeft: z.number(),
});
export type Progress = z.output<typeof Progress>;

/** What is added to a plan with its targets. */
export interface Addition {
  /** The groups of targets, by their ids, where there are limits for them. */
  groups?: ReadonlyMap<string, readonly Group[]>;
  excluded?: readonly Excluded[];
  /** How many candidates this and earlier attempts have excluded before. */
  excludedBefore?: number;
  /** Given when the part ends between two items of the list. */
  processed?: Processed | undefined;
}

export interface Processed {
  progress: Progress;
  /** The names of the items since the last progress. */
  listed: readonly string[];
  /** The numbers of targets that have changed since then, by group. */
  counts: readonly (readonly [group: string, count: number])[];
}

/** What the attempt before has made. */
export interface Continued {
  fence: number;
  progress: Progress;
  listed: readonly string[];
  counts: readonly (readonly [group: string, count: number])[];
  excluded: number;
}

const GROUP = 'group ';
const PAGE = 500;

export class PlanStore {
  constructor(private readonly store: Store) {}

  /**
   * Starts a plan from the beginning and gives its fence. Gives 0, and changes nothing, when the run already has
   * its plan or has ended.
   */
  async begin(run: string): Promise<number> {
    const of = keysOfRun(run);
    const filled = [
      of.order,
      of.targets,
      of.pending,
      of.excluded,
      of.reasons,
      of.groups,
      of.planned,
      of.listed,
    ];
    return Number(await beginPlan(this.store, { keys: { run: of.run }, keyList: filled }));
  }

  /** Continues the plan of an earlier attempt. Gives nothing when there is none, or the plan cannot begin either. */
  async continue(run: string): Promise<Continued | undefined> {
    const fence = Number(await continuePlan(this.store, { keys: keysOfRun(run) }));
    if (fence === 0) return undefined;
    const key = keys.progress(run);
    const { progress = '', ...fields } = await this.store.hgetall(key);
    return {
      fence,
      progress: parseRecord(Progress, progress, key),
      listed: await this.listed(run),
      counts: Object.entries(fields)
        .filter(([field]) => field.startsWith(GROUP))
        .map(([field, count]) => [field.slice(GROUP.length), Number(count)]),
      excluded: Number(fields['excluded']),
    };
  }

  private async listed(run: string): Promise<string[]> {
    const names: string[] = [];
    let cursor = '0';
    do {
      const [next, page] = await this.store.sscan(keys.listed(run), cursor, 'COUNT', PAGE);
      names.push(...page);
      cursor = next;
    } while (cursor !== '0');
    return names;
  }

  /**
   * Adds targets to a plan in their order, each id once; ended ones count at once. False when another attempt
   * at planning has begun.
   */
  async add(
    run: string,
    planFence: number,
    targets: readonly Target[],
    { groups, excluded = [], excludedBefore = 0, processed }: Addition = {},
  ): Promise<boolean> {
    const { progress, listed = [], counts = [] } = processed ?? {};
    const added = await addToPlan(this.store, {
      keys: keysOfRun(run),
      args: {
        plan_fence: planFence,
        excluded_before: excludedBefore,
        excluded: JSON.stringify(excluded.map((one) => JSON.stringify(one))),
        progress: progress ? JSON.stringify(progress) : '',
        listed: toJson(listed),
        counts: toJson(counts.flatMap(([group, count]) => [GROUP + group, count])),
      },
      argList: targets.flatMap((target) => {
        const own = groups?.get(target.id);
        return [target.id, toJson(target), target.outcome ?? '', own ? JSON.stringify(own) : ''];
      }),
    });
    return added === 1;
  }

  /**
   * Puts the pending targets into their order: `first` before the others; with `spread` in an order that depends on
   * their ids alone, and started evenly over its window. Called once the plan is complete; does nothing when another
   * attempt at planning has begun. Blocks Redis for about 5 ms per 1,000 targets.
   */
  async order(
    run: string,
    planFence: number,
    { spread, first }: { spread: Pick<Spread, 'from' | 'ms'> | undefined; first: readonly string[] },
  ): Promise<void> {
    await orderTargets(this.store, {
      keys: keysOfRun(run),
      args: { plan_fence: planFence, from: spread?.from ?? '', window_ms: spread?.ms ?? '' },
      argList: first,
    });
  }

  /**
   * Counts requests that planning sent, and records how many targets the plan of the latest attempt has. The cost
   * of later plans is estimated from them.
   */
  async note(
    run: string,
    planFence: number,
    { spent, targets }: { spent: Spent; targets: number },
  ): Promise<void> {
    await notePlan(this.store, {
      keys: { run: keys.run(run) },
      args: { plan_fence: planFence, spent: JSON.stringify(spent), targets },
    });
  }

  /**
   * Counts an attempt at planning that failed for another reason than an outage; gives how many there were, 0
   * for a run that no longer exists.
   */
  async countFailure(run: string): Promise<number> {
    return Number(await countPlanFailure(this.store, { keys: keysOfRun(run) }));
  }
}
