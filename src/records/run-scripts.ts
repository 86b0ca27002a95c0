/**
 * The scripts by which runs are made and moved: each with its indexes, its event and its place in the ledger,
 * or not at all.
 */

import { ADD_TO_TOTALS } from './totals-store.ts';

/** What CREATE answers, by number. */
export const creations = ['there', 'made', 'decided', 'in-the-way'] as const;

/**
 * KEYS: run, all runs, runs of its policy, runs in its status, active runs, active accounts, events, ledger,
 * ledgers, the targets that alone were asked for, its reasons, totals of the hour. ARGV: id, created, active,
 * account, name of this creation, event, policy, which others are in the way or '', where runs are, moment or
 * '', its record, whether it is a backfill, how many arguments its fields are, fields, targets.
 *
 * As with a move, a second coming is known by the name. A moment that has its record makes no run, unless it
 * is backfilled: then the record notes that.
 */
export const CREATE = `${ADD_TO_TOTALS}
local made = redis.call('HGET', KEYS[1], 'lastMove')
if made == ARGV[5] then return 1 end
if made then return 0 end
local moment = ARGV[10]
local known = moment ~= '' and redis.call('ZRANGEBYSCORE', KEYS[8], moment, moment)[1]
if known and ARGV[12] == '0' then return 2 end
if ARGV[8] ~= '' then
  local begun, queued = 0, 0
  for _, id in ipairs(redis.call('SMEMBERS', KEYS[5])) do
    local policy, status = unpack(redis.call('HMGET', ARGV[9] .. id, 'policy', 'status'))
    if policy == ARGV[7] then
      if status == 'queued' then queued = queued + 1 else begun = begun + 1 end
    end
  end
  local waiting = begun > 0 and queued or queued - 1
  if ARGV[8] == 'any' and begun + queued > 0 or ARGV[8] == 'waiting' and waiting > 0 then return 3 end
end
local last = 13 + tonumber(ARGV[13])
redis.call('HSET', KEYS[1], 'lastMove', ARGV[5], unpack(ARGV, 14, last))
for first = last + 1, #ARGV, 1000 do
  redis.call('RPUSH', KEYS[10], unpack(ARGV, first, math.min(first + 999, #ARGV)))
end
redis.call('ZADD', KEYS[2], ARGV[2], ARGV[1])
redis.call('ZADD', KEYS[3], ARGV[2], ARGV[1])
redis.call('ZADD', KEYS[4], ARGV[2], ARGV[1])
if ARGV[3] == '1' then
  redis.call('SADD', KEYS[5], ARGV[1])
  redis.call('SADD', KEYS[6], ARGV[4])
else add_to_totals(KEYS[1], KEYS[11], KEYS[12], ARGV[1]) end
if moment ~= '' then
  local record = ARGV[11]
  if known then
    local noted = cjson.decode(known)
    noted['backfill'] = ARGV[1]
    record = cjson.encode(noted)
    redis.call('ZREM', KEYS[8], known)
  end
  redis.call('ZADD', KEYS[8], moment, record)
  redis.call('SADD', KEYS[9], ARGV[7])
end
redis.call('PUBLISH', KEYS[7], ARGV[6])
return 1`;

/**
 * KEYS: run, active runs, events, all runs, its reasons, totals of the hour. ARGV: id, to, final, sources,
 * event, status index, move, plan step or '', fields. Each move has a name, by which one that was made
 * already is known when its command comes again with a new connection.
 *
 * Whoever decided on a move may have read the run before its plan was complete. Once it is, the run is not
 * planned again, and does not end before each of its targets has: what is in flight would never get its
 * outcome.
 */
export const MOVE = `${ADD_TO_TOTALS}
local from, last, step, complete = unpack(redis.call('HMGET', KEYS[1], 'status', 'lastMove', 'planStep', 'planComplete'))
if last == ARGV[7] then return 1 end
if complete and ARGV[2] == 'planning' then return 0 end
if complete and ARGV[3] == '1' then
  local planned, open = redis.call('HGET', KEYS[1], 'planned'), 0
  for _, count in ipairs(redis.call('HMGET', KEYS[1], 'succeeded', 'failed', 'skipped', 'cancelled')) do open = open - (tonumber(count) or 0) end
  if open + (tonumber(planned) or 0) > 0 then return 0 end
end
if ARGV[8] ~= '' and ARGV[8] ~= step then return 0 end
local allowed = false
for source in string.gmatch(ARGV[4], '[^,]+') do if source == from then allowed = true end end
if not from or not allowed then return 0 end
redis.call('HSET', KEYS[1], 'status', ARGV[2], 'lastMove', ARGV[7], unpack(ARGV, 9))
local created = redis.call('ZSCORE', KEYS[4], ARGV[1])
redis.call('ZREM', ARGV[6] .. from, ARGV[1])
redis.call('ZADD', ARGV[6] .. ARGV[2], created or 0, ARGV[1])
if ARGV[3] == '1' then
  redis.call('SREM', KEYS[2], ARGV[1])
  add_to_totals(KEYS[1], KEYS[5], KEYS[6], ARGV[1])
end
redis.call('PUBLISH', KEYS[3], ARGV[5])
return 1`;

/** KEYS: run. ARGV: ending, detail, whether its tasks are to be cancelled. */
export const END = `
if redis.call('EXISTS', KEYS[1]) == 0 then return 0 end
if redis.call('HSETNX', KEYS[1], 'ending', ARGV[1]) == 1 then redis.call('HSET', KEYS[1], 'detail', ARGV[2]) end
if ARGV[3] == '1' then redis.call('HSET', KEYS[1], 'cancelTasks', 1) end
return 1`;

/**
 * KEYS: run. ARGV: fields. Changes a run that is there: the hash of one that is gone would come back without
 * an index.
 */
export const SET_FIELDS = `
if redis.call('EXISTS', KEYS[1]) == 0 then return 0 end
redis.call('HSET', KEYS[1], unpack(ARGV))
return 1`;

/** KEYS: run, events. ARGV: why it is held as JSON, detail, event. */
export const HOLD = `
if not redis.call('HGET', KEYS[1], 'status') then return 0 end
if redis.call('HSETNX', KEYS[1], 'held', ARGV[1]) == 0 then return 0 end
redis.call('HSET', KEYS[1], 'detail', ARGV[2])
redis.call('PUBLISH', KEYS[2], ARGV[3])
return 1`;

/** KEYS: run, events. ARGV: event. */
export const RELEASE_HELD = `
if redis.call('HDEL', KEYS[1], 'held') == 0 then return 0 end
redis.call('HDEL', KEYS[1], 'detail')
redis.call('PUBLISH', KEYS[2], ARGV[1])
return 1`;
