/**
 * For the head of a script that makes deliveries; `deliveries`, `due` and `last` are keys of all of them. A delivery waits
 * for those to its receiver that were the last ones about its subjects, in `after`.
 */
export const ADD_DELIVERY = `
local function add_delivery(id, text, delivery, now, kept)
  if redis.call('EXISTS', delivery) == 1 then return end
  local made, after = cjson.decode(text), {}
  for _, subject in ipairs(made.subjects or {}) do
    local field = made.to .. ' ' .. subject
    table.insert(after, redis.call('HGET', keys.last, field) or nil)
    redis.call('HSET', keys.last, field, id)
  end
  redis.call('HSET', delivery, 'delivery', text, 'to', made.to, 'state', 'pending', 'since', now)
  if #after > 0 then redis.call('HSET', delivery, 'after', table.concat(after, ' ')) end
  redis.call('PEXPIRE', delivery, kept)
  redis.call('ZADD', keys.deliveries, now, id)
  redis.call('ZADD', keys.due, now, id)
  redis.call('ZREMRANGEBYSCORE', keys.deliveries, '-inf', now - kept)
  for _, key in ipairs({keys.deliveries, keys.due, keys.last}) do redis.call('PEXPIRE', key, kept) end
end`;
