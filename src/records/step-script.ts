/** The scripts that put the targets of a plan into batches, reject some of them, and go from one batch to the next. */
import { defineScript } from '../redis/script.ts';
import { ADD_NOTICE } from './notice-store.ts';

/** The scores of the targets of a batch begin at its number times this. */
export const PER_BATCH = 1_000_000;

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
export const stepRun = defineScript(
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
export const placeTargets = defineScript(
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
