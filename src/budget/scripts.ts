/**
 * The decisions about a window, each atomic in Redis.
 *
 * The hash of an account (KEYS[1]) holds:
 *
 * - `window`, its number, which grows; `limit`, only once the service told it; `remaining`; `resets` (ms since 1970) and
 *   `length` (ms it had left when it was first seen); `known`, 1 once an answer of this window was seen; `scout`, until when
 *   somebody is finding out; `ours`, what all our processes sent in it;
 * - `past-others`, `past-ended`: what others spent in the window before, as far as we saw; `processes`, how many of ours sent
 *   something in it; `follows`, 1 when this window began as that one ended; `cycle`, how long such a window was (ms);
 * - `asked:person`, ...: when a class last wanted something; `let-go:person`, ...: how many requests it was let go in all;
 * - `slack`, ms that `X-RateLimit-Reset` proved to be rounded down by; `failing`, since when the service has answered nobody with
 *   anything but a failure, while that is so, `failed`, when that was seen last, and `failing-at`, a digest of the address that was asked.
 *
 * What was let go in a window, by class and by process (`@name`), stands in a hash of its own (KEYS[2] and the window's
 * number), which is gone soon after. All keys share the one hash tag, so that they are where the scripts run on a Cluster too.
 */
/**
 * What both readers know. ARGV: now, default limit, reserve share, default length in ms, the classes, most urgent first, with
 * the share that is theirs at most and whether they come without notice, as JSON `[[class, share, sudden], ...]`.
 *
 * `kept_from` is what a class leaves to the others: what each may still ask for, and no more than its share. That is the whole
 * share for the more urgent who lately wanted something; half of it for those who did not, and for the less urgent who did. Of
 * who comes without notice it is all that he has not used. Of the others, what they used in the window before tells: half
 * as much again for the time that is left. It gives both sums; the second one shrinks with the time. Towards the end of the window
 * all of it melts away, soon enough that everything gets used.
 */
const WINDOW = `
local now, default_limit, reserve = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local default_length, classes = tonumber(ARGV[4]), cjson.decode(ARGV[5])
local h = redis.call('HMGET', KEYS[1], 'limit', 'remaining', 'resets', 'known', 'scout', 'window', 'length', 'processes')
local limit, remaining = tonumber(h[1]) or default_limit, tonumber(h[2]) or default_limit
local resets, known, scout = tonumber(h[3]) or 0, h[4] == '1', tonumber(h[5]) or 0
local window, length, processes = tonumber(h[6]) or 0, tonumber(h[7]) or default_length, tonumber(h[8]) or 1
local reserved = math.floor(limit * reserve + 0.5)
local over, left = now >= resets or not known, resets - now
local melts_from, melts_to = math.max(length * 0.2, 3000), math.max(length * 0.03, 1200)

local function used_in(number, class) return tonumber(redis.call('HGET', KEYS[2] .. number, class) or 0) end
local function kept_from(class, begun)
  local sudden, steady, urgent = 0, 0, true
  for _, entry in ipairs(classes) do
    local other, share = entry[1], entry[2] * (limit - reserved)
    if other == class then urgent = false
    else
      local lately = now - tonumber(redis.call('HGET', KEYS[1], 'asked:' .. other) or 0) <= 2 * length
      local most = urgent and lately and share or share / 2
      local open = math.max(0, most - (begun and used_in(window, other) or 0))
      if entry[3] and (urgent or lately) then sudden = sudden + open
      elseif urgent or lately then
        local before = used_in(begun and window - 1 or window, other)
        local time = begun and left / length or 1
        steady = steady + math.min(open, before > 0 and 1 + before * 1.5 * time or most * time)
      end
    end
  end
  return math.floor(sudden), math.floor(steady)
end
local function melt(left) return math.max(0, math.min(1, (left - melts_to) / (melts_from - melts_to))) end
`;

/**
 * ARGV: as above, then scout ms, class, process, the address. Gives 0 to go, else ms to wait; the number of the window; how long
 * it is worth to wait elsewhere; how many processes share the account; and 1 while nobody gets an answer at the address.
 */
export const TAKE = `${WINDOW}
local scout_ms, class, process = tonumber(ARGV[6]), ARGV[7], ARGV[8]
local failing_at = redis.call('HGET', KEYS[1], 'failing-at')
redis.call('HSET', KEYS[1], 'asked:' .. class, now)

local function let_go(number)
  redis.call('HINCRBY', KEYS[1], 'ours', 1)
  redis.call('HINCRBY', KEYS[1], 'let-go:' .. class, 1)
  local use = KEYS[2] .. number
  redis.call('HINCRBY', use, class, 1)
  redis.call('HINCRBY', use, '@' .. process, 1)
  redis.call('PEXPIRE', use, default_length * 3)
  return {0, number, 0, processes, failing_at == ARGV[9] and 1 or 0}
end

if over then
  if now < scout then
    return {math.ceil(math.min(scout - now, 40)), window, math.ceil(math.min(scout - now, 1000)), processes}
  end
  if known then
    local ours = tonumber(redis.call('HGET', KEYS[1], 'ours') or 0)
    processes = 0
    for _, name in ipairs(redis.call('HKEYS', KEYS[2] .. window)) do
      if string.sub(name, 1, 1) == '@' then processes = processes + 1 end
    end
    processes = math.max(processes, 1)
    redis.call('HSET', KEYS[1], 'past-others', math.max(0, limit - remaining - ours), 'past-ended', resets,
      'processes', processes, 'follows', now - resets < 2000 and 1 or 0)
  end
  -- Another scout of a window that nobody knows yet looks for the same: either answer will do.
  if known or window == 0 then
    window = window + 1
    redis.call('HSET', KEYS[1], 'ours', 0)
  end
  redis.call('HSET', KEYS[1], 'window', window, 'remaining', limit - 1, 'resets', now + default_length, 'known', 0,
    'scout', now + scout_ms, 'length', default_length)
  redis.call('PEXPIRE', KEYS[1], default_length * 60)
  return let_go(window)
end

local spare = remaining - reserved
if spare < 1 then return {math.ceil(left), window, math.ceil(left), processes} end
local sudden, steady = kept_from(class, true)
local kept = sudden + steady
if spare - 1 < kept * melt(left) then
  local until_enough = left - melts_to - (spare - 1) / kept * (melts_from - melts_to)
  if steady > 0 and spare - 1 > sudden then
    until_enough = math.min(until_enough, left - (spare - 1 - sudden) / steady * left)
  end
  local wait = math.max(math.ceil(math.min(until_enough, left)), 1)
  return {wait, window, wait, processes}
end
redis.call('HSET', KEYS[1], 'remaining', remaining - 1)
return let_go(window)
`;

/** ARGV: as above, then class. Gives how many requests that class may still send in this window, or in the next. */
export const ROOM = `${WINDOW}
local class = ARGV[6]
-- Somebody has to go ahead into a new window, however little it seems to have.
if now >= resets then
  local sudden, steady = kept_from(class, false)
  return math.max(1, math.floor(limit - reserved - sudden - steady))
end
local sudden, steady = kept_from(class, true)
return math.floor(math.max(0, remaining - reserved - (sudden + steady) * melt(left)))
`;

/** ARGV: now, answered|limited|failed|none, limit, remaining, reset ms (each may be empty), default length ms, the window's number, the address. */
export const LEARN = `
local now, what, length = tonumber(ARGV[1]), ARGV[2], tonumber(ARGV[6])
local said_limit, said_remaining, said_reset = tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[5])
local h = redis.call('HMGET', KEYS[1], 'remaining', 'resets', 'known', 'slack', 'window', 'length', 'follows')
local remaining, resets, known = tonumber(h[1]) or 0, tonumber(h[2]) or 0, h[3] == '1'
local slack, current = tonumber(h[4]) or 0, tonumber(ARGV[7]) == tonumber(h[5])
local half = (tonumber(h[6]) or length) / 2
local told = said_remaining and said_reset

-- Since when nobody got a usable answer: the service is away, or a part of it.
if what == 'failed' then
  if redis.call('HGET', KEYS[1], 'failing-at') ~= ARGV[8] then redis.call('HDEL', KEYS[1], 'failing') end
  redis.call('HSETNX', KEYS[1], 'failing', now)
  redis.call('HSET', KEYS[1], 'failed', now, 'failing-at', ARGV[8])
end
if what == 'answered' or what == 'limited' then redis.call('HDEL', KEYS[1], 'failing', 'failed', 'failing-at') end
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
if not current and not (known and said_reset and math.abs(ends - resets) <= half) then return end

if said_limit then redis.call('HSET', KEYS[1], 'limit', said_limit) end
if rounded_down then redis.call('HSET', KEYS[1], 'slack', slack) end
if not known and said_reset then
  redis.call('HSET', KEYS[1], 'length', math.max(ends - now, 1000))
  -- Any other window may have begun long before it was first seen.
  if h[7] == '1' then redis.call('HSET', KEYS[1], 'cycle', math.max(ends - now, 1000)) end
end
if what == 'limited' then
  redis.call('HSET', KEYS[1], 'remaining', 0, 'known', 1, 'scout', 0, 'resets', ends)
elseif not told then
  -- An answer without the headers: our own count is all there is.
  redis.call('HSET', KEYS[1], 'known', 1, 'scout', 0)
elseif not known or ends > resets + half then
  redis.call('HSET', KEYS[1], 'remaining', said_remaining, 'resets', ends, 'known', 1, 'scout', 0)
elseif ends >= resets - half then
  -- Earlier, it would be an answer of the window before, which says nothing of this one.
  redis.call('HSET', KEYS[1], 'remaining', math.min(remaining, said_remaining),
    'resets', rounded_down and ends or math.min(resets, ends))
end
`;
