/** Scripts that read what many policies have of findings, so that a page costs few commands. They change nothing. */
import { defineScript } from '../redis/script.ts';

/** How many policies are read in one script: it takes less than a millisecond. */
export const POLICIES_AT_ONCE = 20;
/** How many of them, where each of up to 50 sites is looked for. */
export const POLICIES_OF_SITES_AT_ONCE = 10;

/**
 * Of each policy and severity: how many findings are open, how many were seen first after `new_since`, and when the
 * oldest was, or ''; then how many findings of the policy somebody has acknowledged at any time. `indexes`: of each policy
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
 * The findings of a severity after the field `after`, the newest first. Without it, or when it is not open any more, from the
 * rank `from`; when that is '', after those that are newer than `newer_than`. Gives the rank of the first, and them. Ranks
 * change with every finding that is new or resolved, so all this is read at once.
 */
export const readFindings = defineScript(
  { keys: ['since', 'findings'], args: ['after', 'from', 'newer_than', 'count'] },
  `
local rank = args.after ~= '' and redis.call('ZREVRANK', keys.since, args.after)
local from = rank and rank + 1 or tonumber(args.from) or redis.call('ZCOUNT', keys.since, args.newer_than, '+inf')
local fields = redis.call('ZREVRANGE', keys.since, from, from + args.count - 1)
if #fields == 0 then return { from } end
return { from, unpack(redis.call('HMGET', keys.findings, unpack(fields))) }`,
);
