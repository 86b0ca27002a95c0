/**
 * The moves of targets, each atomic. A target's record says in which state it is and at which step; the
 * sorted sets say the same by state, so that what is due, in flight or late is found without reading every
 * target.
 */
import { COUNT_REQUESTS } from '../redis/store.ts';

/**
 * KEYS: run, targets, order, pending, reasons. ARGV: plan step, targets as id, JSON, outcome ('' = pending)
 * each. A target that is there already is left as it is: this may be a command that was sent again, and
 * counts must add up.
 */
export const ADD_TARGETS = `
if redis.call('HGET', KEYS[1], 'planStep') ~= ARGV[1] then return 0 end
for i = 2, #ARGV, 3 do
  if redis.call('HSETNX', KEYS[2], ARGV[i], ARGV[i + 1]) == 1 then
    redis.call('RPUSH', KEYS[3], ARGV[i])
    redis.call('HINCRBY', KEYS[1], 'planned', 1)
    if ARGV[i + 2] == '' then redis.call('RPUSH', KEYS[4], ARGV[i])
    else
      redis.call('HINCRBY', KEYS[1], ARGV[i + 2], 1)
      local reason = cjson.decode(ARGV[i + 1]).reason
      if reason then redis.call('HINCRBY', KEYS[5], ARGV[i + 2] .. ' ' .. reason, 1) end
    end
  end
end
return 1`;

/**
 * KEYS: run, left out. ARGV: plan step, candidates that are not part of the plan as JSON. Gives 0 when the
 * plan is another's.
 */
export const ADD_LEFT_OUT = `
if redis.call('HGET', KEYS[1], 'planStep') ~= ARGV[1] then return 0 end
for i = 2, #ARGV do redis.call('RPUSH', KEYS[2], ARGV[i]) end
return 1`;

/**
 * KEYS: run, and all that a plan fills. Gives the number of this attempt at planning; earlier ones can add no
 * more. Gives 0, and touches nothing, once a plan is complete or the run has ended: targets may be under way
 * by it.
 */
export const BEGIN_PLAN = `
local status, complete = unpack(redis.call('HMGET', KEYS[1], 'status', 'planComplete'))
if complete or (status ~= 'queued' and status ~= 'planning' and status ~= 'blocked') then return 0 end
redis.call('DEL', unpack(KEYS, 2))
redis.call('HSET', KEYS[1], 'planned', 0, 'succeeded', 0, 'failed', 0, 'skipped', 0, 'cancelled', 0)
return redis.call('HINCRBY', KEYS[1], 'planStep', 1)`;

/** KEYS: run. */
export const COUNT_PLAN_FAILURE = `
if redis.call('EXISTS', KEYS[1]) == 0 then return 0 end
return redis.call('HINCRBY', KEYS[1], 'planFailures', 1)`;

/**
 * KEYS: run, pending. ARGV: plan step, from, window. Puts the pending targets into the order of a hash of
 * their ids, and has `RELEASE` begin them evenly over the window. Gives 0 when the plan is another's.
 */
export const SPREAD = `
if redis.call('HGET', KEYS[1], 'planStep') ~= ARGV[1] then return 0 end
local ids, places = redis.call('LRANGE', KEYS[2], 0, -1), {}
for _, id in ipairs(ids) do places[id] = redis.sha1hex(id) end
table.sort(ids, function(a, b) return places[a] < places[b] end)
redis.call('DEL', KEYS[2])
for first = 1, #ids, 1000 do
  redis.call('RPUSH', KEYS[2], unpack(ids, first, math.min(first + 999, #ids)))
end
redis.call('HSET', KEYS[1], 'spreadFrom', ARGV[2], 'spreadMs', ARGV[3], 'spreadOf', #ids)
return 1`;

/**
 * KEYS: active runs of the account. ARGV: now, requests that may be sent, what runs' keys begin with. Gives
 * id, count, acting, id, ...: how many targets each run may hand out, and how many were handed out and not
 * settled when that was decided.
 *
 * The next place belongs to the run that has least in flight for its weight: so a run of five passes one of
 * five thousand that began before. What is handed out and not settled may not have sent its request yet.
 */
export const ALLOT = `
local now, room, runs = tonumber(ARGV[1]), tonumber(ARGV[2]), {}
for _, id in ipairs(redis.call('SMEMBERS', KEYS[1])) do
  local key = ARGV[3] .. id
  local run = redis.call('HMGET', key, 'status', 'concurrency', 'weight', 'ending', 'createdAt', 'held')
  if run[1] == 'running' and (run[4] or not run[6]) then
    local acting = redis.call('ZCARD', key .. ':acting')
    local busy = acting + redis.call('ZCARD', key .. ':following')
    local wants = redis.call('ZCOUNT', key .. ':waiting', '-inf', now)
    if not run[4] then wants = wants + redis.call('LLEN', key .. ':pending') end
    wants = math.min(wants, tonumber(run[2]) - busy)
    room = room - acting
    if wants > 0 then
      runs[#runs + 1] = {id = id, wants = wants, acting = acting, busy = busy, weight = tonumber(run[3]) or 1, age = tonumber(run[5]) or 0, given = 0}
    end
  end
end
while room > 0 do
  local first, load
  for _, run in ipairs(runs) do
    if run.given < run.wants then
      local its = (run.busy + run.given + 1) / run.weight
      if not first or its < load or (its == load and run.age < first.age) then first, load = run, its end
    end
  end
  if not first then break end
  -- Alone, it gets all at once.
  first.given = #runs == 1 and math.min(first.wants, room) or first.given + 1
  room = room - (#runs == 1 and first.given or 1)
end
local allotted = {}
for _, run in ipairs(runs) do
  if run.given > 0 then
    allotted[#allotted + 1] = run.id
    allotted[#allotted + 1] = tostring(run.given)
    allotted[#allotted + 1] = tostring(run.acting)
  end
end
return allotted`;

/**
 * KEYS: run, targets, pending, acting, following, waiting, deadlines. ARGV: now, at most, all|begun, how many
 * were acting when that was decided (or ''): what somebody else handed out since then counts. Gives id, step,
 * id, step, ... With `begun`, nothing new is handed out unless nothing of the run is under way. Of a run that
 * is held, only the cancelling of its tasks is handed out, once it was cancelled. Of a run that is spread,
 * no more targets are begun than its window has come to.
 */
export const RELEASE = `
local now = tonumber(ARGV[1])
local run = redis.call('HMGET', KEYS[1], 'status', 'concurrency', 'targetMs', 'ending', 'spreadFrom', 'spreadMs', 'spreadOf', 'held')
if run[1] ~= 'running' or run[8] and not run[4] then return {} end
local free = tonumber(run[2]) - redis.call('ZCARD', KEYS[4]) - redis.call('ZCARD', KEYS[5])
local since = ARGV[4] == '' and 0 or math.max(0, redis.call('ZCARD', KEYS[4]) - tonumber(ARGV[4]))
free = math.min(free, tonumber(ARGV[2]) - since)
if free <= 0 then return {} end
local ids = redis.call('ZRANGEBYSCORE', KEYS[6], '-inf', now, 'LIMIT', 0, free)
local fresh = ARGV[3] == 'all'
  or redis.call('ZCARD', KEYS[4]) + redis.call('ZCARD', KEYS[5]) + redis.call('ZCARD', KEYS[6]) == 0
local new = free - #ids
if run[6] then
  local all = tonumber(run[7])
  local come = math.floor(all * (now - tonumber(run[5])) / tonumber(run[6])) + 1
  new = math.min(new, come - (all - redis.call('LLEN', KEYS[3])))
end
if fresh and not run[4] and new > 0 then
  for _, id in ipairs(redis.call('LPOP', KEYS[3], new) or {}) do ids[#ids + 1] = id end
end
local released = {}
for _, id in ipairs(ids) do
  local json = redis.call('HGET', KEYS[2], id)
  local target = json and cjson.decode(json)
  local held = run[8] and target and not target.callOff
  if not held then redis.call('ZREM', KEYS[6], id) end
  if target and not held and (target.state == 'pending' or target.state == 'waiting') then
    target.state = 'acting'
    target.claimed = nil
    target.step = target.step + 1
    if not target.startedAt then
      target.startedAt = now
      target.deadline = now + tonumber(run[3])
      redis.call('ZADD', KEYS[7], target.deadline, id)
    end
    redis.call('HSET', KEYS[2], id, cjson.encode(target))
    redis.call('ZADD', KEYS[4], now, id)
    released[#released + 1] = id
    released[#released + 1] = tostring(target.step)
  end
end
return released`;

/**
 * KEYS: targets, acting, waiting, run. ARGV: id, step, now, run id, when to try again, what sites' keys and
 * runs' target keys begin with. Gives the target as it now is, and why the run was cancelled, if it was; or
 * nothing.
 *
 * A target that belongs to a site holds the site, in a hash of those at work on it, from here to its end;
 * while one of another run holds it, this one is made to wait. (The keys of sites and other runs are made
 * here: they share the one hash tag, so that they are where the script runs on a Cluster too.)
 */
export const CLAIM = `
local status, ending, held = unpack(redis.call('HMGET', KEYS[4], 'status', 'ending', 'held'))
if status ~= 'running' or held and not ending then return false end
local json = redis.call('HGET', KEYS[1], ARGV[1])
if not json then return false end
local target = cjson.decode(json)
if target.state ~= 'acting' or target.claimed or target.step ~= tonumber(ARGV[2]) then return false end
if target.site then
  local site = ARGV[6] .. target.site
  for _, holder in ipairs(redis.call('HKEYS', site)) do
    local run, id = string.match(holder, '^([^\\n]+)\\n(.+)$')
    if run ~= ARGV[4] then
      local other = redis.call('HGET', ARGV[7] .. run .. ':targets', id)
      if other and cjson.decode(other).state ~= 'ended' then
        target.state = 'waiting'
        target.reason = 'conflict'
        target.detail = 'The run ' .. run .. ' is active on the site.'
        redis.call('HSET', KEYS[1], ARGV[1], cjson.encode(target))
        redis.call('ZREM', KEYS[2], ARGV[1])
        redis.call('ZADD', KEYS[3], ARGV[5], ARGV[1])
        return false
      end
      redis.call('HDEL', site, holder)
    end
  end
  redis.call('HSET', site, ARGV[4] .. '\\n' .. ARGV[1], 1)
  redis.call('PEXPIRE', site, 604800000)
end
target.claimed = true
target.step = target.step + 1
json = cjson.encode(target)
redis.call('HSET', KEYS[1], ARGV[1], json)
redis.call('ZADD', KEYS[2], ARGV[3], ARGV[1])
return {json, ending}`;

/**
 * KEYS: targets, acting. ARGV: id, step, now. Keeps the claim of a worker that takes long; 0 when it has lost
 * it.
 */
export const RENEW = `
local json = redis.call('HGET', KEYS[1], ARGV[1])
local target = json and cjson.decode(json)
if not target or target.state ~= 'acting' or target.step ~= tonumber(ARGV[2]) then return 0 end
redis.call('ZADD', KEYS[2], 'XX', ARGV[3], ARGV[1])
return 1`;

/**
 * KEYS: targets, run, generation, schema. ARGV: id, step, intent JSON, generation remembered: its name and
 * number, version of the records that the process works with. Gives the target's new step and the number
 * raised: a copy that was read before the intent can no longer be written over it. Gives 0 when the target
 * was handed to somebody else meanwhile, its run is held, Redis was put back to an older state, or the
 * records have another version; and -1 when the run was cancelled: then nothing new may be begun, but the
 * cancelling of its tasks.
 */
export const NOTE_INTENT = `
local json = redis.call('HGET', KEYS[1], ARGV[1])
if not json then return {0} end
local target, intent, step = cjson.decode(json), cjson.decode(ARGV[3]), tonumber(ARGV[2])
if target.state ~= 'acting' then return {0} end
local noted = target.intent
-- Noted already: the answer was lost with the connection, and the command is here for the second time.
if target.step == step + 1 and noted and noted.at == intent.at and noted.operation == intent.operation then
  return {target.step}
end
if target.step ~= step then return {0} end
local ending, held = unpack(redis.call('HMGET', KEYS[2], 'ending', 'held'))
if not target.callOff and ending then return {-1} end
if not target.callOff and held then return {0} end
local name, number = unpack(redis.call('HMGET', KEYS[3], 'id', 'number'))
if name and name == ARGV[4] and tonumber(number or 0) < tonumber(ARGV[5]) then return {0} end
local version = redis.call('HGET', KEYS[4], 'version')
if version and version ~= ARGV[6] then return {0} end
target.intent = intent
target.step = step + 1
redis.call('HSET', KEYS[1], ARGV[1], cjson.encode(target))
return {target.step, redis.call('HINCRBY', KEYS[3], 'number', 1)}`;

/**
 * KEYS: run, targets, pending, acting, following, waiting, deadlines, runs of the target, events, reasons,
 * effects of today. ARGV: id, step, states it may come from, new state, new JSON, score, outcome, requests by
 * operation, run id, event, now, what sites' keys begin with, how long effects are kept, effects that are the
 * target's.
 */
export const SETTLE = `${COUNT_REQUESTS}
local json = redis.call('HGET', KEYS[2], ARGV[1])
local old = json and cjson.decode(json)
local ours = old and old.state ~= 'ended' and old.step == tonumber(ARGV[2])
  and string.find(ARGV[3], old.state, 1, true)
-- Written already: the answer was lost with the connection, and the command is here for the second time.
if old and not ours and json == ARGV[5] then return 1 end
count_requests(KEYS[1], ARGV[8])
if not ours then return 0 end
redis.call('HSET', KEYS[2], ARGV[1], ARGV[5])
for i = 14, #ARGV do
  redis.call('HSET', KEYS[11], ARGV[i], ARGV[9] .. '\\n' .. ARGV[1])
  redis.call('PEXPIRE', KEYS[11], ARGV[13])
end
redis.call('ZREM', KEYS[4], ARGV[1])
redis.call('ZREM', KEYS[5], ARGV[1])
redis.call('ZREM', KEYS[6], ARGV[1])
if ARGV[4] == 'following' then redis.call('ZADD', KEYS[5], ARGV[6], ARGV[1])
elseif ARGV[4] == 'waiting' then redis.call('ZADD', KEYS[6], ARGV[6], ARGV[1])
elseif ARGV[4] == 'ended' then
  if old.state == 'pending' then redis.call('LREM', KEYS[3], 1, ARGV[1]) end
  redis.call('ZREM', KEYS[7], ARGV[1])
  if old.site then redis.call('HDEL', ARGV[12] .. old.site, ARGV[9] .. '\\n' .. ARGV[1]) end
  redis.call('HINCRBY', KEYS[1], ARGV[7], 1)
  local reason = cjson.decode(ARGV[5]).reason
  if reason then redis.call('HINCRBY', KEYS[10], ARGV[7] .. ' ' .. reason, 1) end
  redis.call('ZADD', KEYS[8], ARGV[11], ARGV[9])
  redis.call('ZREMRANGEBYRANK', KEYS[8], 0, -21)
  redis.call('PUBLISH', KEYS[9], ARGV[10])
end
return 1`;
