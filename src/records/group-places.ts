/**
 * The places that the targets of one client or one tag have in a run (`limits.per_client`, `limits.per_tag`), as
 * a part of the scripts that move targets.
 *
 * A target takes a place of each of its groups when it is dispatched, and gives them back when it is neither
 * acting nor followed any more: the script that moves it counts both, so the counts are exact whenever a
 * process dies. A target whose group is full is parked: it waits without a time, in the order in which the
 * targets were parked first, and other targets pass it. Each place that becomes free makes the first one that
 * is parked for it due again. It may find another of its groups full, and is then parked for that one.
 */

/** A group of targets that `limits.per_client` or `limits.per_tag` limits. */
export interface Group {
  kind: 'client' | 'tag';
  id: string;
  /** `the client "ACME"`. */
  label: string;
}

/** When a parked target is due: never, until a place becomes free. */
const NEVER = 8_640_000_000_000_000;

/**
 * The functions need `keys.groups` (the groups of each target, and under `\n<id>` where it is parked),
 * `keys.places` (the number of targets in flight of each group), `keys.parked` (the parked targets by their
 * group and their order), `keys.waiting`, `keys.targets` and `keys.run`.
 */
export const GROUP_PLACES = `
local function in_flight(state) return state == 'acting' or state == 'following' end
local function groups_of(id)
  local json = redis.call('HGET', keys.groups, id)
  return json and cjson.decode(json) or {}
end
local function group_key(group) return group.kind .. ' ' .. group.id end
-- Makes the first target that is parked for a group due.
local function wake(key, now)
  local first = redis.call('ZRANGEBYLEX', keys.parked, '[' .. key .. '\\n', '[' .. key .. '\\n\\255', 'LIMIT', 0, 1)[1]
  if not first then return end
  redis.call('ZREM', keys.parked, first)
  redis.call('ZADD', keys.waiting, 'XX', now, string.match(first, '^[^\\n]*\\n%d+\\n(.+)$'))
end
local function leave_parking(id)
  local place = redis.call('HGET', keys.groups, '\\n' .. id)
  if not place then return nil end
  redis.call('ZREM', keys.parked, place)
  redis.call('HDEL', keys.groups, '\\n' .. id)
  return string.match(place, '\\n(%d+)\\n')
end
-- Gives back the places of a target that was in flight. One that was not may have been made due for a place
-- that it does not take: the next one gets it.
local function leave_groups(id, state, now)
  leave_parking(id)
  for _, group in ipairs(groups_of(id)) do
    local key = group_key(group)
    if in_flight(state) and redis.call('HINCRBY', keys.places, key, -1) <= 0 then
      redis.call('HDEL', keys.places, key)
    end
    wake(key, now)
  end
end
-- Gives whether the target was parked.
local function take_places(id)
  for _, group in ipairs(groups_of(id)) do redis.call('HINCRBY', keys.places, group_key(group), 1) end
  return leave_parking(id) ~= nil
end
local function is_full(group, limits)
  local limit = limits[group.kind]
  return limit and tonumber(redis.call('HGET', keys.places, group_key(group)) or 0) >= limit
end
-- Parks a target that is pending or waiting if one of its groups is full.
local function park(id, target, limits, now)
  local groups, full = groups_of(id), nil
  for _, group in ipairs(groups) do full = full or is_full(group, limits) and group end
  if not full then return false end
  local order = leave_parking(id) or string.format('%012d', redis.call('HINCRBY', keys.run, 'parkings', 1))
  local place = group_key(full) .. '\\n' .. order .. '\\n' .. id
  target.state = 'waiting'
  target.detail = 'Waits: ' .. limits[full.kind] .. ' of the targets with ' .. full.label ..
    ' are in flight (limits.per_' .. full.kind .. '.concurrency).'
  redis.call('HSET', keys.targets, id, cjson.encode(target))
  redis.call('HSET', keys.groups, '\\n' .. id, place)
  redis.call('ZADD', keys.waiting, ${NEVER}, id)
  redis.call('ZADD', keys.parked, 0, place)
  for _, group in ipairs(groups) do
    if not is_full(group, limits) then wake(group_key(group), now) end
  end
  return true
end`;
