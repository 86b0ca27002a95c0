/** Scripts that read what many policies have of findings, so that a page costs few commands. They change nothing. */
import { defineScript } from '../redis/script.ts';

/** How many policies are read in one script: it takes less than a millisecond. */
export const POLICIES_AT_ONCE = 20;
/** How many of them, where each of up to 50 sites is looked for. */
export const POLICIES_OF_SITES_AT_ONCE = 10;

/**
 * Of each policy and severity: how many findings are open, how many were seen first after `new_since`, and when the
 * oldest was, or ''; then how many findings of the policy a person has acknowledged at any time. `indexes`: of each policy
 * the findings by age, for each severity, and the acknowledged ones.
 */
export const countFindings = defineScript(
  { keys: [], keyList: 'indexes', args: ['new_since'] },
  `
local counts = {}
for i, key in ipairs(indexes) do
  if i % 4 == 0 then
    counts[#counts + 1] = tostring(redis.call('HLEN', key))
  else
    local open = redis.call('ZCARD', key)
    counts[#counts + 1] = tostring(open)
    counts[#counts + 1] = open == 0 and '0' or tostring(redis.call('ZCOUNT', key, args.new_since, '+inf'))
    counts[#counts + 1] = open == 0 and '' or redis.call('ZRANGE', key, 0, 0, 'WITHSCORES')[2]
  end
end
return counts`,
);

/** How many findings each of the sites has, over these policies; `indexes`: of each policy the findings by site. */
export const countOnSites = defineScript(
  { keys: [], keyList: 'indexes', argList: 'sites' },
  `
local counts, from, to = {}, {}, {}
for i, site in ipairs(sites) do counts[i], from[i], to[i] = 0, '[' .. site .. '\\n', '(' .. site .. '\\v' end
for _, key in ipairs(indexes) do
  if redis.call('EXISTS', key) == 1 then
    for i = 1, #sites do counts[i] = counts[i] + redis.call('ZLEXCOUNT', key, from[i], to[i]) end
  end
end
return counts`,
);

/**
 * The fields of the open findings of groups, in each the newest first, at most `count` in all. `groups`: of each its
 * findings by age. In the first group it begins after the field `after`, or when that is not open any more from the
 * rank `from`. `state`: only those that are `new`, which are newer than `newer_than`, or only the others (`open`).
 * Gives of each group that has some its number, the rank of the first, and them.
 *
 * All is read at once: ranks change with every finding that is new or resolved, and one whose severity changes goes to
 * another group.
 */
export const listFields = defineScript(
  { keys: [], keyList: 'groups', args: ['after', 'from', 'state', 'newer_than', 'count'] },
  `
local found, left = {}, tonumber(args.count)
for i, key in ipairs(groups) do
  local from, to = 0, redis.call('ZCARD', key)
  if to > 0 and args.state ~= '' then
    local new = redis.call('ZCOUNT', key, args.newer_than, '+inf')
    if args.state == 'new' then to = new else from = new end
  end
  if i == 1 and args.after ~= '' then
    local rank = redis.call('ZREVRANK', key, args.after)
    from = rank and rank + 1 or tonumber(args.from)
  end
  to = math.min(to, from + left)
  if from < to then
    found[#found + 1] = { i - 1, from, redis.call('ZREVRANGE', key, from, to - 1) }
    left = left - (to - from)
    if left == 0 then break end
  end
end
return found`,
);
