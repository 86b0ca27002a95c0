/**
 * The two decisions about a window, each atomic in Redis.
 *
 * The hash holds: `window` (its number, which grows), `limit` (only once the service told it), `remaining`, `resets`
 * (ms since 1970), `known` (1 once an answer of this window was seen), `scout` (until when somebody is finding out),
 * `slack` (ms that `X-RateLimit-Reset` proved to be rounded down by), `answered` (when the service last answered
 * anybody with anything but a failure) and `failing` (since when it has not, while that is so), and how many requests each priority was let go (`let-go:person`, ...).
 */

/**
 * ARGV: now, default limit, reserve share, floor share, window ms, scout ms, priority.
 * Gives 0 to go, else ms to wait; the number of the window; and how long it is worth to wait elsewhere.
 */
export const TAKE = `
local now, default_limit, reserve = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local floor, length, scout_ms = tonumber(ARGV[4]), tonumber(ARGV[5]), tonumber(ARGV[6])
local h = redis.call('HMGET', KEYS[1], 'limit', 'remaining', 'resets', 'known', 'scout', 'window')
local limit, remaining = tonumber(h[1]) or default_limit, tonumber(h[2]) or default_limit
local resets, known, scout = tonumber(h[3]) or 0, h[4] == '1', tonumber(h[5]) or 0
local window = tonumber(h[6]) or 0

if now >= resets or not known then
  if now < scout then return {math.ceil(math.min(scout - now, 40)), window, math.ceil(math.min(scout - now, 1000))} end
  -- Another scout of a window that nobody knows yet looks for the same: either answer will do.
  if known or window == 0 then window = window + 1 end
  redis.call('HSET', KEYS[1], 'window', window, 'remaining', limit - 1, 'resets', now + length, 'known', 0,
    'scout', now + scout_ms)
  redis.call('HINCRBY', KEYS[1], 'let-go:' .. ARGV[7], 1)
  redis.call('PEXPIRE', KEYS[1], length * 60)
  return {0, window}
end

local spare = remaining - math.floor(limit * reserve + 0.5)
local left = resets - now
if spare < 1 then return {math.ceil(left), window} end
local kept = floor * limit * math.min(left / length, 1)
if spare - 1 < kept then
  local until_enough = left - length * (spare - 1) / (floor * limit)
  return {math.max(math.ceil(math.min(until_enough, left)), 1), window}
end
redis.call('HSET', KEYS[1], 'remaining', remaining - 1)
redis.call('HINCRBY', KEYS[1], 'let-go:' .. ARGV[7], 1)
return {0, window}
`;

/** ARGV: now, answered|limited|failed|none, limit, remaining, reset ms (each may be empty), window ms, its number. */
export const LEARN = `
local now, what, length = tonumber(ARGV[1]), ARGV[2], tonumber(ARGV[6])
local said_limit, said_remaining, said_reset = tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[5])
local h = redis.call('HMGET', KEYS[1], 'remaining', 'resets', 'known', 'slack', 'window')
local remaining, resets, known = tonumber(h[1]) or 0, tonumber(h[2]) or 0, h[3] == '1'
local slack, current = tonumber(h[4]) or 0, tonumber(ARGV[7]) == tonumber(h[5])
local told = said_remaining and said_reset

if what == 'answered' or what == 'limited' then redis.call('HSET', KEYS[1], 'answered', now) end
-- Since when nobody got a usable answer: the service is away, or a part of it.
if what == 'failed' then redis.call('HSETNX', KEYS[1], 'failing', now) end
if what == 'answered' or what == 'limited' then redis.call('HDEL', KEYS[1], 'failing') end
if what == 'none' or (what == 'failed' and not told) then
  -- A scout that found out nothing: the next one may go at once.
  if current and not known then redis.call('HSET', KEYS[1], 'scout', 0) end
  return
end
-- No window has 0 seconds left, unless they are rounded down: it may be a second longer than is said.
local rounded_down = said_reset == 0 and slack == 0
if rounded_down then slack = 1000 end
local ends = now + (said_reset or length) + slack
-- The answer to a request of an earlier window counts only when it is plainly about this one.
if not current and not (known and said_reset and math.abs(ends - resets) <= length / 2) then return end

if said_limit then redis.call('HSET', KEYS[1], 'limit', said_limit) end
if rounded_down then redis.call('HSET', KEYS[1], 'slack', slack) end
if what == 'limited' then
  redis.call('HSET', KEYS[1], 'remaining', 0, 'known', 1, 'scout', 0, 'resets', ends)
elseif not told then
  -- An answer without the headers: our own count is all there is.
  redis.call('HSET', KEYS[1], 'known', 1, 'scout', 0)
elseif not known or ends > resets + length / 2 then
  redis.call('HSET', KEYS[1], 'remaining', said_remaining, 'resets', ends, 'known', 1, 'scout', 0)
elseif ends >= resets - length / 2 then
  -- Earlier, it would be an answer of the window before, which says nothing of this one.
  redis.call('HSET', KEYS[1], 'remaining', math.min(remaining, said_remaining),
    'resets', rounded_down and ends or math.min(resets, ends))
end
`;
