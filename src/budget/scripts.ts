/**
 * The decisions about a window of the budget, each one atomic in Redis. docs/budget.md has a diagram of a
 * window and explains the phases under the names of the functions here. test/budget/model.ts is the same in
 * TypeScript, and a test compares the two step by step.
 *
 * The hash of an account (KEYS[1]) holds times in ms since 1970, durations in ms, and:
 *
 * - the window: `window`, its number, which grows; `limit`, once the service has reported it; `remaining`;
 *   `resets`, when it ends; `length`, the time left when it was first seen; `known`, 1 once an answer has
 *   shown it; `scout`, until when a scout is in flight; `ours`, how many requests all our processes sent in
 *   it;
 * - the previous window: `past-others`, what other clients spent in it, as far as answers showed;
 *   `past-ended`; `processes`, how many of ours sent something in it; `contiguous`, 1 if this window began
 *   when that one ended; `full-length`, the length of such a window;
 * - the classes: `asked:<class>`, the time of its last request; `granted:<class>`, how many requests it was
 *   granted in total;
 * - the service: `rounding`, by how much `X-RateLimit-Reset` is rounded down; `failing`, since when no
 *   request got a usable answer, during an outage; `failed`, the last failure; `failing-at`, a digest of the
 *   address of the service.
 *
 * What was granted in a window, by class and by process (`@<process>`), is in a hash of its own (KEYS[2] and
 * the window's number), which expires soon after. All keys share one hash tag, so that a Cluster keeps them
 * on one node.
 *
 * What was granted by class and policy in each minute and hour is in the hashes of the history (`history.ts`), whose
 * keys begin with KEYS[3].
 *
 * KEYS[4] of `TAKE` is the hash of the addresses that the records of the accounts belong to (`service-address.ts`).
 *
 * ARGV[1] holds the arguments by name, as JSON: `SharedWindow` builds them.
 */

import { JUMP_MS } from '../redis/clock.ts';
import { bucketSizes, MAX_FIELDS } from './history.ts';
import { classRules, type RequestClass, requestClasses } from './ticket.ts';

/**
 * Counts in the buckets of the history (`history.ts`), whose keys begin with KEYS[3]. A request counts in the bucket in
 * which its window began.
 */
const HISTORY = `
local sizes = {${bucketSizes.map(({ name, ms, keptMs }) => `{name = '${name}', ms = ${ms}, kept = ${keptMs}}`).join(', ')}}

local function in_buckets(began, count)
  for _, size in ipairs(sizes) do
    count(string.format('%s%s:%d', KEYS[3], size.name, began - began % size.ms), size.kept)
  end
end

local function remember_grant(began)
  in_buckets(began, function(bucket, kept)
    local field = args.class .. ' ' .. args.policy
    if redis.call('HINCRBY', bucket, field, 1) > 1 then return end
    redis.call('PEXPIRE', bucket, kept)
    if redis.call('HLEN', bucket) <= ${MAX_FIELDS} then return end
    redis.call('HDEL', bucket, field)
    redis.call('HINCRBY', bucket, args.class .. ' ', 1)
  end)
end

local function remember_others(began, others, limit)
  in_buckets(began, function(bucket, kept)
    redis.call('HINCRBY', bucket, 'others', others)
    redis.call('HSET', bucket, 'limit', limit)
    redis.call('PEXPIRE', bucket, kept)
  end)
end
`;

const askedFields = requestClasses.map((name) => `'asked:${name}'`).join(', ');

/**
 * The head of every script: its arguments, and the window as it was last seen, read with one command. What is written is
 * collected, and stored with one command by `save`. When the clock went back, every time that is stored goes back as
 * far, so that nothing waits until the former time is reached again.
 */
const WINDOW = `
local args = cjson.decode(ARGV[1])
local hash, usage_prefix, now = KEYS[1], KEYS[2], args.now

local fields, changed, lifetime, flat = {}, {}, nil, redis.call('HGETALL', hash)
for i = 1, #flat, 2 do fields[flat[i]] = flat[i + 1] end
local function number(field) return tonumber(fields[field]) end
local function write(...)
  local given = {...}
  for i = 1, #given, 2 do fields[given[i]], changed[given[i]] = given[i + 1], true end
end
local function erase(...)
  for _, field in ipairs({...}) do
    if fields[field] then fields[field], changed[field] = nil, true end
  end
end
local function save()
  local written, erased = {}, {}
  for field in pairs(changed) do
    if fields[field] == nil then
      erased[#erased + 1] = field
    else
      written[#written + 1] = field
      written[#written + 1] = fields[field]
    end
  end
  if #written > 0 then redis.call('HSET', hash, unpack(written)) end
  if #erased > 0 then redis.call('HDEL', hash, unpack(erased)) end
  if lifetime then redis.call('PEXPIRE', hash, lifetime) end
  changed = {}
end

local ahead = 0
for _, field in ipairs({${askedFields}}) do ahead = math.max(ahead, (number(field) or 0) - now) end
if ahead > ${JUMP_MS} then
  for _, field in ipairs({${askedFields}, 'resets', 'scout', 'past-ended', 'failing', 'failed'}) do
    local at = number(field) or 0
    if at > 0 then write(field, at - ahead) end
  end
  save()
end

local window = {
  number = number('window') or 0,
  limit = number('limit') or args.default_limit,
  remaining = number('remaining') or args.default_limit,
  resets = number('resets') or 0,
  length = number('length') or args.default_length,
  known = number('known') == 1,
  scout_until = number('scout') or 0,
  processes = number('processes') or 1,
  rounding = number('rounding') or 0,
}
local left = window.resets - now
`;

const luaClass = (name: RequestClass): string => {
  const { share, bursty, capped = false } = classRules[name];
  return `{name = '${name}', share = ${share}, bursty = ${bursty}, capped = ${capped}}`;
};

/** What a class has to leave for the others, and how that is released towards the end of the window. */
const RESERVATIONS = `
-- Most urgent first.
local classes = {${requestClasses.map(luaClass).join(', ')}}
local reserve = math.floor(window.limit * args.reserve + 0.5)
local spendable = window.remaining - reserve
local ramp_start, ramp_end = math.max(window.length * 0.2, 3000), math.max(window.length * 0.03, 1200)

-- The fraction of the reservations that applies: 1 until ramp_start ms before the window ends, 0 from ramp_end
-- on.
local function release_ramp()
  return math.max(0, math.min(1, (left - ramp_end) / (ramp_start - ramp_end)))
end

-- What was granted in a window, by class and by process.
local usages = {}
local function usage_of(window_number)
  local usage = usages[window_number]
  if usage then return usage end
  usage = {}
  local found = redis.call('HGETALL', usage_prefix .. window_number)
  for i = 1, #found, 2 do usage[found[i]] = tonumber(found[i + 1]) end
  usages[window_number] = usage
  return usage
end

local function used_in(window_number, name) return usage_of(window_number)[name] or 0 end

local function asked_recently(class)
  return now - (number('asked:' .. class) or 0) <= 2 * window.length
end

-- What is reserved for another class. more_urgent: more urgent than the class that asks. in_progress: for this
-- window, else for the next one.
local function reserved_for(other, more_urgent, in_progress)
  local recent = asked_recently(other.name)
  if not more_urgent and not recent then return 0 end
  local share = other.share * (window.limit - reserve)
  local guaranteed = more_urgent and recent and share or share / 2
  local unused = math.max(0, guaranteed - (in_progress and used_in(window.number, other.name) or 0))
  if other.bursty then return unused end
  -- One and a half times its use in the previous window, in proportion to the time left.
  local used_before = used_in(in_progress and window.number - 1 or window.number, other.name)
  local time_left = in_progress and left / window.length or 1
  local expected = used_before > 0 and 1 + used_before * 1.5 * time_left or guaranteed * time_left
  return math.min(unused, expected)
end

-- Two sums: the bursty part is constant, the predictable part shrinks as time passes.
local function reserved_for_others(class, in_progress)
  local bursty, predictable, more_urgent = 0, 0, true
  for _, other in ipairs(classes) do
    if other.name == class then
      more_urgent = false
    elseif other.bursty then
      bursty = bursty + reserved_for(other, more_urgent, in_progress)
    else
      predictable = predictable + reserved_for(other, more_urgent, in_progress)
    end
  end
  return math.floor(bursty), math.floor(predictable)
end
`;

/** Grants a request of a class, or returns how long to wait. The last lines are the decision. */
export const TAKE = `${WINDOW}${RESERVATIONS}${HISTORY}
local function reply(decision)
  save()
  decision.window, decision.processes = window.number, window.processes
  return cjson.encode(decision)
end

local function wait(ms, retry_after)
  return reply({ wait = math.ceil(ms), retry_after = math.ceil(retry_after) })
end

local function window_began()
  return math.floor(math.min(now, number('resets') - number('length')))
end

local function grant()
  local total, process = 'granted:' .. args.class, '@' .. args.process
  write('ours', (number('ours') or 0) + 1, total, (number(total) or 0) + 1)
  local usage, own = usage_prefix .. window.number, usage_of(window.number)
  redis.call('HSET', usage, args.class, (own[args.class] or 0) + 1, process, (own[process] or 0) + 1)
  redis.call('PEXPIRE', usage, args.default_length * 3)
  remember_grant(window_began())
  return reply({ wait = 0, retry_after = 0, during_outage = fields['failing-at'] == args.address })
end

-- The others leave more of the window for a class that asked recently.
local function remember_request()
  write('asked:' .. args.class, now)
end

local function window_is_over()
  return left <= 0 or not window.known
end

local function scout_is_out()
  return now < window.scout_until
end

-- Its answer usually takes milliseconds.
local function wait_for_scout()
  local scout_left = window.scout_until - now
  return wait(math.min(scout_left, 40), math.min(scout_left, 1000))
end

-- Stores what is needed of the window that has ended.
local function close_window()
  local processes, ours = 0, number('ours') or 0
  for field in pairs(usage_of(window.number)) do
    if string.sub(field, 1, 1) == '@' then processes = processes + 1 end
  end
  window.processes = math.max(processes, 1)
  local others = math.max(0, window.limit - window.remaining - ours)
  remember_others(window_began(), others, window.limit)
  write('past-others', others, 'past-ended', window.resets,
    'processes', window.processes, 'contiguous', -left < 2000 and 1 or 0)
end

-- The request becomes the scout. A scout that replaces another one has the same window number, so either
-- answer counts.
local function open_window()
  if window.known or window.number == 0 then
    window.number = window.number + 1
    write('ours', 0)
  end
  write('window', window.number, 'remaining', window.limit - 1, 'known', 0, 'scout', now + args.scout_timeout,
    'resets', now + args.default_length, 'length', args.default_length)
  lifetime = args.default_length * 60
end

-- How long until the reservations of the others leave a request for this class; 0 if they do now.
local function ms_until_released()
  local bursty, predictable = reserved_for_others(args.class, true)
  local reservations, free = bursty + predictable, spendable - 1
  if free >= reservations * release_ramp() then return 0 end
  local by_ramp = left - ramp_end - free / reservations * (ramp_start - ramp_end)
  local by_time = left
  if predictable > 0 and free > bursty then by_time = left - (free - bursty) / predictable * left end
  return math.max(math.ceil(math.min(by_ramp, by_time, left)), 1)
end

-- How long until a capped class gets another request; 0 if it does now.
local function ms_until_uncapped()
  local own, busy
  for _, one in ipairs(classes) do
    if one.name == args.class then own = one
    elseif not one.bursty and asked_recently(one.name) then busy = true end
  end
  if not own.capped or not busy or left <= ramp_end then return 0 end
  if used_in(window.number, args.class) < own.share * (window.limit - reserve) then return 0 end
  return left - ramp_end
end

local bound = redis.call('HGET', KEYS[4], args.account)
if bound and args.service ~= '' and bound ~= args.service then return cjson.encode({ moved = bound }) end
remember_request()
if window_is_over() then
  if scout_is_out() then return wait_for_scout() end
  if window.known then close_window() end
  open_window()
  return grant()
end
if spendable < 1 then return wait(left, left) end
local release = math.max(ms_until_released(), ms_until_uncapped())
if release > 0 then return wait(release, release) end
write('remaining', window.remaining - 1)
return grant()
`;

/** How many requests a class may still send in this window, or in the next one if this one has ended. */
export const AVAILABLE = `${WINDOW}${RESERVATIONS}
if left <= 0 then
  local bursty, predictable = reserved_for_others(args.class, false)
  -- At least one request has to open a new window.
  return math.max(1, math.floor(window.limit - reserve - bursty - predictable))
end
local bursty, predictable = reserved_for_others(args.class, true)
return math.floor(math.max(0, spendable - (bursty + predictable) * release_ramp()))
`;

/** Corrects the window from the report of an answer. The last lines are the decision. */
export const LEARN = `${WINDOW}
local has_numbers = args.remaining and args.reset
-- 0 seconds means that the service rounds down, since the window has not ended. It may end up to a second later
-- than reported.
local found_rounding = args.reset == 0 and window.rounding == 0
if found_rounding then window.rounding = 1000 end
local ends = now + (args.reset or args.default_length) + window.rounding
local is_current, tolerance = args.window == window.number, window.length / 2

-- Records since when no request got a usable answer at this address.
local function record_health()
  if args.kind == 'failed' then
    if fields['failing-at'] ~= args.address or not fields.failing then write('failing', now) end
    write('failed', now, 'failing-at', args.address)
  elseif args.kind ~= 'unknown' then
    erase('failing', 'failed', 'failing-at')
  end
end

local function reports_nothing()
  return args.kind == 'unknown' or (args.kind == 'failed' and not has_numbers)
end

-- A scout without a result: the next request may become the scout immediately.
local function release_scout()
  if is_current and not window.known then write('scout', 0) end
end

-- The answer to a request of an earlier window counts only when it clearly reports this one.
local function is_about_this_window()
  return is_current or (window.known and args.reset and math.abs(ends - window.resets) <= tolerance)
end

local function record_service()
  if args.limit then write('limit', args.limit) end
  if found_rounding then write('rounding', window.rounding) end
end

local function record_length()
  if window.known or not args.reset then return end
  local length = math.max(ends - now, 1000)
  write('length', length)
  -- Any other window may have begun long before it was first seen.
  if number('contiguous') == 1 then write('full-length', length) end
end

local function correct_count()
  if args.kind == 'limited' then
    write('remaining', 0, 'resets', ends, 'known', 1, 'scout', 0)
  elseif not has_numbers then
    -- Only our own count is available.
    write('known', 1, 'scout', 0)
  elseif not window.known or ends > window.resets + tolerance then
    -- A window that has just begun.
    write('remaining', args.remaining, 'resets', ends, 'known', 1, 'scout', 0)
  elseif ends >= window.resets - tolerance then
    -- The same window: the report lacks requests that were granted after that answer. A report with an earlier
    -- end is about the previous window.
    write('remaining', math.min(window.remaining, args.remaining),
      'resets', found_rounding and ends or math.min(window.resets, ends))
  end
end

record_health()
if reports_nothing() then
  release_scout()
elseif is_about_this_window() then
  record_service()
  record_length()
  correct_count()
end
save()
`;
