/**
 * The scripts that change targets, each atomic. A target's record has its state and its fence; sorted sets
 * index the targets by state, so that what is due, in flight or late is found without reading every target.
 */
import { defineScript } from '../redis/script.ts';
import { COUNT_REQUESTS } from '../redis/store.ts';
import { ADD_TO_OUTBOX } from './outbox-scripts.ts';

/**
 * `targets`: id, JSON and outcome ('' = pending) of each in turn. A target that is already there stays as it
 * is: the command may have been sent again, and the counts must add up. Gives 0 when another attempt at
 * planning has begun.
 */
export const addTargets = defineScript(
  {
    keys: ['run', 'targets', 'order', 'pending', 'reasons'],
    args: ['plan_fence'],
    argList: 'targets',
  },
  `
if redis.call('HGET', keys.run, 'planFence') ~= args.plan_fence then return 0 end
for i = 1, #targets, 3 do
  local id, json, outcome = targets[i], targets[i + 1], targets[i + 2]
  if redis.call('HSETNX', keys.targets, id, json) == 1 then
    redis.call('RPUSH', keys.order, id)
    redis.call('HINCRBY', keys.run, 'planned', 1)
    if outcome == '' then redis.call('RPUSH', keys.pending, id)
    else
      redis.call('HINCRBY', keys.run, outcome, 1)
      local reason = cjson.decode(json).reason
      if reason then redis.call('HINCRBY', keys.reasons, outcome .. ' ' .. reason, 1) end
    end
  end
end
return 1`,
);

/**
 * `candidates`: those that are not part of the plan, as JSON. Gives 0 when another attempt at planning has
 * begun.
 */
export const addExcluded = defineScript(
  { keys: ['run', 'excluded'], args: ['plan_fence'], argList: 'candidates' },
  `
if redis.call('HGET', keys.run, 'planFence') ~= args.plan_fence then return 0 end
for _, candidate in ipairs(candidates) do redis.call('RPUSH', keys.excluded, candidate) end
return 1`,
);

/**
 * `filled`: all keys that a plan fills. Gives the fence of this attempt at planning: earlier attempts can add
 * nothing more. Gives 0, and changes nothing, once a plan is complete or the run has ended: targets may
 * already be dispatched.
 */
export const beginPlan = defineScript(
  { keys: ['run'], keyList: 'filled' },
  `
local status, complete = unpack(redis.call('HMGET', keys.run, 'status', 'planComplete'))
if complete or (status ~= 'queued' and status ~= 'planning' and status ~= 'blocked') then return 0 end
redis.call('DEL', unpack(filled))
redis.call('HSET', keys.run, 'planned', 0, 'succeeded', 0, 'failed', 0, 'skipped', 0, 'cancelled', 0)
return redis.call('HINCRBY', keys.run, 'planFence', 1)`,
);

export const countPlanFailure = defineScript(
  { keys: ['run'] },
  `
if redis.call('EXISTS', keys.run) == 0 then return 0 end
return redis.call('HINCRBY', keys.run, 'planFailures', 1)`,
);

/**
 * Puts the pending targets into the order of a hash of their ids, and has `dispatchTargets` start them evenly
 * over a window. Gives 0 when another attempt at planning has begun.
 */
export const spreadTargets = defineScript(
  { keys: ['run', 'pending'], args: ['plan_fence', 'from', 'window_ms'] },
  `
if redis.call('HGET', keys.run, 'planFence') ~= args.plan_fence then return 0 end
local ids, places = redis.call('LRANGE', keys.pending, 0, -1), {}
for _, id in ipairs(ids) do places[id] = redis.sha1hex(id) end
table.sort(ids, function(a, b) return places[a] < places[b] end)
redis.call('DEL', keys.pending)
for first = 1, #ids, 1000 do
  redis.call('RPUSH', keys.pending, unpack(ids, first, math.min(first + 999, #ids)))
end
redis.call('HSET', keys.run, 'spreadFrom', args.from, 'spreadMs', args.window_ms, 'spreadOf', #ids)
return 1`,
);

/**
 * Divides `room` requests among the active runs of an account. Gives id, count, acting of each run in turn:
 * how many targets the run may dispatch, and how many of its targets were dispatched and had not moved on
 * when that was decided.
 *
 * The next place goes to the run that has the fewest targets in flight for its weight, so a run of five
 * passes one of five thousand that began before. A target that was dispatched and has not moved on may not
 * have sent its request yet, so it takes room.
 */
export const allocateRoom = defineScript(
  { keys: ['active_runs'], args: ['now', 'room', 'run_prefix'] },
  `
local now, room, runs = tonumber(args.now), tonumber(args.room), {}
for _, id in ipairs(redis.call('SMEMBERS', keys.active_runs)) do
  local key = args.run_prefix .. id
  local status, concurrency, weight, ending, created_at, held =
    unpack(redis.call('HMGET', key, 'status', 'concurrency', 'weight', 'ending', 'createdAt', 'held'))
  if status == 'running' and (ending or not held) then
    local acting = redis.call('ZCARD', key .. ':acting')
    local in_flight = acting + redis.call('ZCARD', key .. ':following')
    local wants = redis.call('ZCOUNT', key .. ':waiting', '-inf', now)
    if not ending then wants = wants + redis.call('LLEN', key .. ':pending') end
    wants = math.min(wants, tonumber(concurrency) - in_flight)
    room = room - acting
    if wants > 0 then
      runs[#runs + 1] = {
        id = id, wants = wants, acting = acting, in_flight = in_flight,
        weight = tonumber(weight) or 1, age = tonumber(created_at) or 0, given = 0,
      }
    end
  end
end
while room > 0 do
  local first, load
  for _, run in ipairs(runs) do
    if run.given < run.wants then
      local its = (run.in_flight + run.given + 1) / run.weight
      if not first or its < load or (its == load and run.age < first.age) then first, load = run, its end
    end
  end
  if not first then break end
  -- A run that is alone gets all at once.
  first.given = #runs == 1 and math.min(first.wants, room) or first.given + 1
  room = room - (#runs == 1 and first.given or 1)
end
local allocated = {}
for _, run in ipairs(runs) do
  if run.given > 0 then
    allocated[#allocated + 1] = run.id
    allocated[#allocated + 1] = tostring(run.given)
    allocated[#allocated + 1] = tostring(run.acting)
  end
end
return allocated`,
);

/**
 * Dispatches at most `limit` targets of a run. Gives id, fence, id, fence, ...
 *
 * `acting`: how many were acting when `limit` was decided, or ''. What another process dispatched since then
 * counts towards the limit. `which`: all, or started: then no target is started unless nothing of the run is
 * in progress. Of a run that is held, only targets whose task is to be cancelled are dispatched, once the run
 * was cancelled. Of a run with a spread, no more targets are started than are due by now.
 */
export const dispatchTargets = defineScript(
  {
    keys: ['run', 'targets', 'pending', 'acting', 'following', 'waiting', 'deadlines'],
    args: ['now', 'limit', 'which', 'acting'],
  },
  `
local now = tonumber(args.now)
local status, concurrency, target_ms, ending, spread_from, spread_ms, spread_of, held = unpack(redis.call('HMGET',
  keys.run, 'status', 'concurrency', 'targetMs', 'ending', 'spreadFrom', 'spreadMs', 'spreadOf', 'held'))
if status ~= 'running' or held and not ending then return {} end
local acting, following = redis.call('ZCARD', keys.acting), redis.call('ZCARD', keys.following)
local since = args.acting == '' and 0 or math.max(0, acting - tonumber(args.acting))
local free = math.min(tonumber(concurrency) - acting - following, tonumber(args.limit) - since)
if free <= 0 then return {} end
local ids = redis.call('ZRANGEBYSCORE', keys.waiting, '-inf', now, 'LIMIT', 0, free)
local may_start = args.which == 'all' or acting + following + redis.call('ZCARD', keys.waiting) == 0
local new = free - #ids
if spread_ms then
  local all = tonumber(spread_of)
  local due = math.floor(all * (now - tonumber(spread_from)) / tonumber(spread_ms)) + 1
  new = math.min(new, due - (all - redis.call('LLEN', keys.pending)))
end
if may_start and not ending and new > 0 then
  for _, id in ipairs(redis.call('LPOP', keys.pending, new) or {}) do ids[#ids + 1] = id end
end
local dispatched = {}
for _, id in ipairs(ids) do
  local json = redis.call('HGET', keys.targets, id)
  local target = json and cjson.decode(json)
  local stays = held and target and not target.taskCancel
  if not stays then redis.call('ZREM', keys.waiting, id) end
  if target and not stays and (target.state == 'pending' or target.state == 'waiting') then
    target.state = 'acting'
    target.claimed = nil
    target.fence = target.fence + 1
    if not target.startedAt then
      target.startedAt = now
      target.deadline = now + tonumber(target_ms)
      redis.call('ZADD', keys.deadlines, target.deadline, id)
    end
    redis.call('HSET', keys.targets, id, cjson.encode(target))
    redis.call('ZADD', keys.acting, now, id)
    dispatched[#dispatched + 1] = id
    dispatched[#dispatched + 1] = tostring(target.fence)
  end
end
return dispatched`,
);

/**
 * Gives the claimed target as it is now, and why its run was cancelled, if it was; or nothing.
 *
 * A target with a site holds that site from here until it ends, in a hash of the targets that hold the site.
 * While a target of another run holds it, this one waits until `retry_at`. The keys of sites and of other
 * runs are built here from `site_prefix` and `run_prefix`: they have the same hash tag, so that the script
 * finds them on a Cluster too.
 */
export const claimTarget = defineScript(
  {
    keys: ['run', 'targets', 'acting', 'waiting'],
    args: ['id', 'fence', 'now', 'run', 'retry_at', 'site_prefix', 'run_prefix'],
  },
  `
local status, ending, held = unpack(redis.call('HMGET', keys.run, 'status', 'ending', 'held'))
if status ~= 'running' or held and not ending then return false end
local json = redis.call('HGET', keys.targets, args.id)
if not json then return false end
local target = cjson.decode(json)
if target.state ~= 'acting' or target.claimed or target.fence ~= tonumber(args.fence) then return false end
if target.site then
  local site = args.site_prefix .. target.site
  for _, holder in ipairs(redis.call('HKEYS', site)) do
    local run, id = string.match(holder, '^([^\\n]+)\\n(.+)$')
    if run ~= args.run then
      local other = redis.call('HGET', args.run_prefix .. run .. ':targets', id)
      if other and cjson.decode(other).state ~= 'ended' then
        target.state = 'waiting'
        target.reason = 'conflict'
        target.detail = 'The run ' .. run .. ' is active on the site.'
        redis.call('HSET', keys.targets, args.id, cjson.encode(target))
        redis.call('ZREM', keys.acting, args.id)
        redis.call('ZADD', keys.waiting, args.retry_at, args.id)
        return false
      end
      redis.call('HDEL', site, holder)
    end
  end
  redis.call('HSET', site, args.run .. '\\n' .. args.id, 1)
  redis.call('PEXPIRE', site, 604800000)
end
target.claimed = true
target.fence = target.fence + 1
json = cjson.encode(target)
redis.call('HSET', keys.targets, args.id, json)
redis.call('ZADD', keys.acting, args.now, args.id)
return {json, ending}`,
);

/** Renews the claim of a worker whose step takes long; 0 when the claim was lost. */
export const renewClaim = defineScript(
  { keys: ['targets', 'acting'], args: ['id', 'fence', 'now'] },
  `
local json = redis.call('HGET', keys.targets, args.id)
local target = json and cjson.decode(json)
if not target or target.state ~= 'acting' or target.fence ~= tonumber(args.fence) then return 0 end
redis.call('ZADD', keys.acting, 'XX', args.now, args.id)
return 1`,
);

/**
 * Records an intent. Gives the target's new fence, with which a copy that was read before the intent can no
 * longer be written over it, and the raised generation number.
 *
 * Gives 0 when the target was dispatched again meanwhile, its run is held, Redis was restored to an older
 * state (`generation_id` and `generation` are what the process remembers), or the records have another
 * version than the process (`records_version`). Gives -1 when the run was cancelled: then nothing new may be
 * started, except cancelling its tasks.
 */
export const noteIntent = defineScript(
  {
    keys: ['run', 'targets', 'generation', 'schema'],
    args: ['id', 'fence', 'intent', 'generation_id', 'generation', 'records_version'],
  },
  `
local json = redis.call('HGET', keys.targets, args.id)
if not json then return {0} end
local target, intent, fence = cjson.decode(json), cjson.decode(args.intent), tonumber(args.fence)
if target.state ~= 'acting' then return {0} end
local noted = target.intent
-- Already recorded: the reply was lost with the connection, and the command was sent again.
if target.fence == fence + 1 and noted and noted.at == intent.at and noted.operation == intent.operation then
  return {target.fence}
end
if target.fence ~= fence then return {0} end
local ending, held = unpack(redis.call('HMGET', keys.run, 'ending', 'held'))
if not target.taskCancel and ending then return {-1} end
if not target.taskCancel and held then return {0} end
local id, number = unpack(redis.call('HMGET', keys.generation, 'id', 'number'))
if id and id == args.generation_id and tonumber(number or 0) < tonumber(args.generation) then return {0} end
local version = redis.call('HGET', keys.schema, 'version')
if version and version ~= args.records_version then return {0} end
target.intent = intent
target.fence = fence + 1
redis.call('HSET', keys.targets, args.id, cjson.encode(target))
return {target.fence, redis.call('HINCRBY', keys.generation, 'number', 1)}`,
);

/**
 * Writes a target in its next state, with its indexes, the run's counts and its event. `from`: the states it
 * may come from, separated by commas; `score`: its place in the index of the new state; `spent`: requests by
 * operation, which are counted whether or not the target is written. `effects`: the fields of the effects
 * that belong to `owner`. Gives 0 when the target has another fence or state.
 */
export const moveTarget = defineScript(
  {
    keys: [
      'run',
      'targets',
      'pending',
      'acting',
      'following',
      'waiting',
      'deadlines',
      'runs_of_target',
      'events',
      'reasons',
      'effects',
      'records',
      'outbox',
      'outbox_since',
      'outbox_accounts',
    ],
    args: [
      'id',
      'fence',
      'from',
      'state',
      'json',
      'score',
      'outcome',
      'spent',
      'run',
      'event',
      'now',
      'site_prefix',
      'effects_ttl',
      'account',
      'outbox_prefix',
      'owner',
    ],
    argList: 'effects',
  },
  `${COUNT_REQUESTS}${ADD_TO_OUTBOX}
local json = redis.call('HGET', keys.targets, args.id)
local old = json and cjson.decode(json)
local ours = old and old.state ~= 'ended' and old.fence == tonumber(args.fence)
  and string.find(args.from, old.state, 1, true)
-- Already written: the reply was lost with the connection, and the command was sent again.
if old and not ours and json == args.json then return 1 end
count_requests(keys.run, args.spent)
if not ours then return 0 end
redis.call('HSET', keys.targets, args.id, args.json)
for _, effect in ipairs(effects) do
  redis.call('HSET', keys.effects, effect, args.owner)
  redis.call('PEXPIRE', keys.effects, args.effects_ttl)
end
redis.call('ZREM', keys.acting, args.id)
redis.call('ZREM', keys.following, args.id)
redis.call('ZREM', keys.waiting, args.id)
if args.state == 'following' then redis.call('ZADD', keys.following, args.score, args.id)
elseif args.state == 'waiting' then redis.call('ZADD', keys.waiting, args.score, args.id)
elseif args.state == 'ended' then
  if old.state == 'pending' then redis.call('LREM', keys.pending, 1, args.id) end
  redis.call('ZREM', keys.deadlines, args.id)
  if old.site then redis.call('HDEL', args.site_prefix .. old.site, args.run .. '\\n' .. args.id) end
  redis.call('HINCRBY', keys.run, args.outcome, 1)
  local target = cjson.decode(args.json)
  if target.reason then redis.call('HINCRBY', keys.reasons, args.outcome .. ' ' .. target.reason, 1) end
  add_to_outbox(target)
  redis.call('ZADD', keys.runs_of_target, args.now, args.run)
  redis.call('ZREMRANGEBYRANK', keys.runs_of_target, 0, -21)
  redis.call('PUBLISH', keys.events, args.event)
end
return 1`,
);
