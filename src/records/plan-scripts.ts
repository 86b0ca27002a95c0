/** The scripts that store the plan of a run, each atomic. */
import { defineScript } from '../redis/script.ts';

/**
 * `targets`: id, JSON, outcome ('' = pending) and groups ('' = none) of each in turn. A target that is already there stays as it
 * is: the command may have been sent again, and the counts must add up. Gives 0 when another attempt at
 * planning has begun.
 */
export const addTargets = defineScript(
  {
    keys: ['run', 'targets', 'order', 'pending', 'reasons', 'groups'],
    args: ['plan_fence'],
    argList: 'targets',
  },
  `
if redis.call('HGET', keys.run, 'planFence') ~= args.plan_fence then return 0 end
for i = 1, #targets, 4 do
  local id, json, outcome, groups = unpack(targets, i, i + 3)
  if redis.call('HSETNX', keys.targets, id, json) == 1 then
    redis.call('RPUSH', keys.order, id)
    if groups ~= '' then redis.call('HSET', keys.groups, id, groups) end
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
