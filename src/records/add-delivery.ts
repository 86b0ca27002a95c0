/** For the head of a script that makes deliveries; `deliveries` and `due` are keys of all of them. */
export const ADD_DELIVERY = `
local function add_delivery(id, text, delivery, now, kept)
  if redis.call('EXISTS', delivery) == 1 then return end
  redis.call('HSET', delivery, 'delivery', text, 'to', cjson.decode(text).to, 'state', 'pending', 'since', now)
  redis.call('PEXPIRE', delivery, kept)
  redis.call('ZADD', keys.deliveries, now, id)
  redis.call('ZADD', keys.due, now, id)
  redis.call('ZREMRANGEBYSCORE', keys.deliveries, '-inf', now - kept)
  for _, key in ipairs({keys.deliveries, keys.due}) do redis.call('PEXPIRE', key, kept) end
end`;
