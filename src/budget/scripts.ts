/**
 * The two decisions about a window, each atomic in Redis.
 *
 * The hash holds: `limit`, `remaining`, `resets` (ms since 1970), `known` (1 once an answer of this window was seen),
 * `scout` (until when somebody is finding out), `slack` (ms that `X-RateLimit-Reset` proved to be rounded down by)
 * and `answered` (when the service last answered anybody with anything but a failure).
 */

/** ARGV: now, default limit, reserve share, floor share, window ms, scout ms. Gives 0 to go, else ms to wait. */
export const TAKE = `
local now, default_limit, reserve = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local floor, window, scout_ms = tonumber(ARGV[4]), tonumber(ARGV[5]), tonumber(ARGV[6])
local h = redis.call('HMGET', KEYS[1], 'limit', 'remaining', 'resets', 'known', 'scout')
local limit, remaining = tonumber(h[1]) or default_limit, tonumber(h[2]) or default_limit
local resets, known, scout = tonumber(h[3]) or 0, h[4] == '1', tonumber(h[5]) or 0

if now >= resets or not known then
  if now < scout then return math.min(scout - now, 40) end
  redis.call('HSET', KEYS[1], 'limit', limit, 'remaining', limit - 1, 'resets', now + window, 'known', 0,
    'scout', now + scout_ms)
  redis.call('PEXPIRE', KEYS[1], window * 60)
  return 0
end

local spare = remaining - math.floor(limit * reserve + 0.5)
local left = resets - now
if spare < 1 then return math.max(left, 1) end
local kept = floor * limit * math.min(left / window, 1)
if spare - 1 < kept then
  local until_enough = left - window * (spare - 1) / (floor * limit)
  return math.max(math.ceil(math.min(until_enough, left)), 1)
end
redis.call('HSET', KEYS[1], 'remaining', remaining - 1)
return 0
`;

/** ARGV: now, answered|limited|failed|none, limit, remaining, reset ms (each may be empty), window ms. */
export const LEARN = `
local now, what, window = tonumber(ARGV[1]), ARGV[2], tonumber(ARGV[6])
local said_limit, said_remaining, said_reset = tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[5])
local h = redis.call('HMGET', KEYS[1], 'limit', 'remaining', 'resets', 'known', 'slack')
local limit, remaining = tonumber(h[1]) or said_limit or 0, tonumber(h[2]) or 0
local resets, known, slack = tonumber(h[3]) or 0, h[4] == '1', tonumber(h[5]) or 0

if what == 'none' then
  redis.call('HSET', KEYS[1], 'scout', 0)
  return
end
if what ~= 'failed' then redis.call('HSET', KEYS[1], 'answered', now) end
if what == 'limited' then
  -- A scout refused right after our window's end: the service rounds the seconds down.
  if not known and said_reset and said_reset <= 1000 then slack = 1000 end
  redis.call('HSET', KEYS[1], 'limit', said_limit or limit, 'remaining', 0, 'known', 1, 'scout', 0, 'slack', slack,
    'resets', now + (said_reset or window) + slack)
  return
end
if not said_remaining or not said_reset then
  -- An answer without the headers: our own count is all there is.
  redis.call('HSET', KEYS[1], 'known', 1, 'scout', 0)
  return
end
local ends = now + said_reset + slack
if not known or ends > resets + window / 2 then
  redis.call('HSET', KEYS[1], 'limit', said_limit or limit, 'remaining', said_remaining, 'resets', ends, 'known', 1,
    'scout', 0)
  return
end
-- An answer that belongs to the window before says nothing of this one.
if ends < resets - window / 2 then return end
redis.call('HSET', KEYS[1], 'limit', said_limit or limit, 'remaining', math.min(remaining, said_remaining),
  'resets', math.min(resets, ends))
`;
