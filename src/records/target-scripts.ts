/**
 * The scripts that change targets, each atomic. A target's record has its state and its fence; sorted sets
 * index the targets by state, so that what is due, in flight or late is found without reading every target.
 */
import { defineScript } from '../redis/script.ts';
import { COUNT_REQUESTS } from '../redis/store.ts';
import { GROUP_PLACES } from './group-places.ts';
import { ADD_TO_OUTBOX } from './outbox-scripts.ts';

/** How many targets one dispatch looks at in vain, at most, because their client or tag has no free place. */
const MAX_PARKED = 200;

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

/** The keys of a run, its targets, and the index of each state. */
const states = ['run', 'targets', 'pending', 'acting', 'following', 'waiting', 'deadlines'] as const;

/**
 * Dispatches at most `limit` targets of a run, and `together` at once. Gives id, fence, id, fence, ...
 *
 * `acting`: how many were acting when `limit` was decided, or ''. What another process dispatched since then
 * counts towards the limit. `which`: all, or started: then nothing is dispatched while a target of the run is acting,
 * and no target is started unless nothing of the run is in progress. Of a run that is held, only targets whose task is
 * to be cancelled are dispatched, once the run was cancelled. Of a run with a spread, no more targets are started than
 * are due by now.
 */
export const dispatchTargets = defineScript(
  {
    keys: [...states, 'groups', 'places', 'parked'],
    args: ['now', 'limit', 'together', 'which', 'acting'],
  },
  `${GROUP_PLACES}
local now = tonumber(args.now)
local status, concurrency, target_ms, ending, spread_from, spread_ms, spread_of, held, per_client, per_tag =
  unpack(redis.call('HMGET', keys.run, 'status', 'concurrency', 'targetMs', 'ending', 'spreadFrom', 'spreadMs',
    'spreadOf', 'held', 'perClient', 'perTag'))
if status ~= 'running' or held and not ending then return {} end
local acting, following = redis.call('ZCARD', keys.acting), redis.call('ZCARD', keys.following)
if args.which == 'started' and acting > 0 then return {} end
local since = args.acting == '' and 0 or math.max(0, acting - tonumber(args.acting))
local free = math.min(tonumber(concurrency) - acting - following, tonumber(args.limit) - since, tonumber(args.together))
if free <= 0 then return {} end
local limits = { client = tonumber(per_client), tag = tonumber(per_tag) }
-- Some of those that are looked at may be parked.
local more = next(limits) and ${MAX_PARKED} or 0
local ids = redis.call('ZRANGEBYSCORE', keys.waiting, '-inf', now, 'LIMIT', 0, free + more)
local waited = #ids
local may_start = args.which == 'all' or acting + following + redis.call('ZCARD', keys.waiting) == 0
local new = math.max(0, free - waited) + more
if spread_ms then
  local all = tonumber(spread_of)
  local due = math.floor(all * (now - tonumber(spread_from)) / tonumber(spread_ms)) + 1
  new = math.min(new, due - (all - redis.call('LLEN', keys.pending)))
end
if may_start and not ending and new > 0 then
  for _, id in ipairs(redis.call('LPOP', keys.pending, new) or {}) do ids[#ids + 1] = id end
end
local dispatched = {}
for at, id in ipairs(ids) do
  if #dispatched >= free * 2 then
    -- The rest stays as it was: what was taken from the front of the queue goes back there.
    for last = #ids, at, -1 do
      if last > waited then redis.call('LPUSH', keys.pending, ids[last]) end
    end
    break
  end
  local json = redis.call('HGET', keys.targets, id)
  local target = json and cjson.decode(json)
  local stays = held and target and not target.taskCancel
  local is_open = target and (target.state == 'pending' or target.state == 'waiting')
  local parked = is_open and not stays and not ending and next(limits) and park(id, target, limits, now)
  if at <= waited and not stays and not parked then redis.call('ZREM', keys.waiting, id) end
  if is_open and not stays and not parked then
    if next(limits) and take_places(id) then target.detail = nil end
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
    isGrouped: true,
    keys: ['run', 'targets', 'acting', 'waiting', 'groups', 'places', 'parked'],
    args: ['id', 'fence', 'now', 'run', 'retry_at', 'site_prefix', 'run_prefix'],
  },
  `${GROUP_PLACES}
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
        leave_groups(args.id, 'acting', args.now)
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

/**
 * Takes back what was written while the clock was `ahead` of now: what waits is due as much earlier, what is followed and
 * what was intended began as much earlier, and claims count from now.
 */
export const takeBackTargets = defineScript(
  { keys: ['targets', 'waiting', 'following', 'acting'], args: ['now', 'ahead'] },
  `
local now, ahead = tonumber(args.now), tonumber(args.ahead)
local function back(at) return at > now and at - ahead or at end
for _, state in ipairs({'waiting', 'following', 'acting'}) do
  local found = redis.call('ZRANGEBYSCORE', keys[state], '(' .. args.now, '+inf', 'WITHSCORES')
  for i = 1, #found, 2 do
    local id = found[i]
    redis.call('ZADD', keys[state], state == 'acting' and now or back(tonumber(found[i + 1])), id)
    local json = state ~= 'acting' and redis.call('HGET', keys.targets, id)
    local target = json and cjson.decode(json)
    local intent, watch = target and target.intent, target and target.watch
    if intent then intent.at = back(intent.at) end
    if watch then watch.since = back(watch.since) end
    if intent or watch then redis.call('HSET', keys.targets, id, cjson.encode(target)) end
  end
end
return 1`,
);

/** Renews the claim of a worker whose step takes long; 0 when the claim was lost. */
export const renewClaim = defineScript(
  { isGrouped: true, keys: ['targets', 'acting'], args: ['id', 'fence', 'now'] },
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
    isGrouped: true,
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
    isGrouped: true,
    keys: [
      ...states,
      'runs_of_target',
      'events',
      'reasons',
      'effects',
      'groups',
      'places',
      'parked',
      'records',
      'outbox',
      'outbox_since',
      'outbox_accounts',
      'later',
      'labels',
      'rejected',
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
  `${COUNT_REQUESTS}${ADD_TO_OUTBOX}${GROUP_PLACES}
local json = redis.call('HGET', keys.targets, args.id)
local old = json and cjson.decode(json)
local ours = old and old.state ~= 'ended' and old.fence == tonumber(args.fence)
  and string.find(args.from, old.state, 1, true)
-- Already written: the reply was lost with the connection, and the command was sent again.
if old and not ours and json == args.json then return 1 end
local status, per_client, per_tag, work, note, not_done =
  unpack(redis.call('HMGET', keys.run, 'status', 'perClient', 'perTag', 'recordWork', 'recordNote', 'recordNot'))
if status then count_requests(keys.run, args.spent) end
if not ours then return 0 end
redis.call('HSET', keys.targets, args.id, args.json)
for _, effect in ipairs(effects) do
  redis.call('HSET', keys.effects, effect, args.owner)
  redis.call('PEXPIRE', keys.effects, args.effects_ttl)
end
if old.state ~= 'pending' then redis.call('ZREM', keys[old.state], args.id) end
if not in_flight(args.state) and (per_client or per_tag) then
  leave_groups(args.id, old.state, args.now)
  if args.state == 'ended' then redis.call('HDEL', keys.groups, args.id) end
end
if args.state == 'following' then redis.call('ZADD', keys.following, args.score, args.id)
elseif args.state == 'waiting' then redis.call('ZADD', keys.waiting, args.score, args.id)
elseif args.state == 'ended' then
  if old.state == 'pending' and redis.call('ZREM', keys.later, args.id) == 0
    and redis.call('HDEL', keys.rejected, args.id) == 0 then
    redis.call('LREM', keys.pending, 1, args.id)
  end
  redis.call('ZREM', keys.deadlines, args.id)
  if old.site then redis.call('HDEL', args.site_prefix .. old.site, args.run .. '\\n' .. args.id) end
  redis.call('HINCRBY', keys.run, args.outcome, 1)
  local target = cjson.decode(args.json)
  if target.reason then redis.call('HINCRBY', keys.reasons, args.outcome .. ' ' .. target.reason, 1) end
  add_to_outbox(target, work, note, not_done)
  redis.call('ZADD', keys.runs_of_target, args.now, args.run)
  redis.call('ZREMRANGEBYRANK', keys.runs_of_target, 0, -21)
  redis.call('HSET', keys.labels, args.account .. '\\n' .. args.id, target.label or args.id)
  redis.call('PUBLISH', keys.events, args.event)
end
return 1`,
);
