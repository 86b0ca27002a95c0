/**
 * The indexes by which the findings of a policy in an account are listed. The scripts that write a finding write them
 * too, so that they always agree. Beside the hash of the findings (`findings-store.ts`) there are
 *
 * - for each severity, the findings by when the first run began that saw them: counts and pages need no read of others,
 * - the findings by site, for the page of a site,
 * - the last 200 findings that were resolved, for 30 days,
 * - for each of the last 30 days with a run, how many were open after its last run: the trend.
 *
 * So each finding has two entries in addition to its record, and all keys expire together.
 */
import { z } from 'zod';
import { FindingChange } from '../run/run.ts';
import type { Severity } from './filter-values.ts';
import { keys } from './keys.ts';

/** A finding as the policy's last run saw it that looked at its target. */
export const KnownFinding = FindingChange.extend({
  /** The site that it is on; missing where it is the target itself. */
  site: z.exactOptional(z.string()),
  /** Who is notified of its target, as of the target. */
  told: z.exactOptional(z.array(z.string())),
  /** The first and the last run that saw it, and when the last one began. */
  first: z.string(),
  last: z.string(),
  seenAt: z.number(),
});
export type KnownFinding = z.output<typeof KnownFinding>;

export const ResolvedFinding = KnownFinding.extend({
  /** When the run began that found it resolved. */
  resolvedAt: z.number(),
});
export type ResolvedFinding = z.output<typeof ResolvedFinding>;

/** A policy that no longer runs is forgotten after this time. */
export const FINDINGS_KEPT_MS = 400 * 86_400_000;
/** Resolved findings that are kept, and for how long. */
export const MAX_RESOLVED = 200;
export const RESOLVED_KEPT_MS = 30 * 86_400_000;
/** The trend has this many days. */
export const TREND_DAYS = 30;

export const fieldOf = ({ target, about }: Pick<KnownFinding, 'target' | 'about'>): string =>
  `${target}\n${about}`;

export const policyMember = (account: string, policy: string): string => `${account}\n${policy}`;

export const indexKeyNames = [
  ...['findings', 'since_error', 'since_warning', 'since_info'],
  ...['of_sites', 'resolved', 'days', 'policies'],
] as const;
type IndexKeyName = 'findings' | `since_${Severity}` | 'of_sites' | 'resolved' | 'days' | 'policies';

export const indexKeysOf = (account: string, policy: string): Record<IndexKeyName, string> => ({
  findings: keys.findings(account, policy),
  since_error: keys.findingsSince(account, policy, 'error'),
  since_warning: keys.findingsSince(account, policy, 'warning'),
  since_info: keys.findingsSince(account, policy, 'info'),
  of_sites: keys.findingsOfSites(account, policy),
  resolved: keys.findingsResolved(account, policy),
  days: keys.findingsDays(account, policy),
  policies: keys.findingPolicies,
});

/**
 * For the head of a script with `indexKeyNames` and the arguments `started_at`, `ttl`, `day` and `of`.
 * `note_day()` counts what is open after the run, and lets all keys live on.
 */
export const INDEX_FINDINGS = `
local function add_to_indexes(field, finding)
  redis.call('ZADD', keys['since_' .. finding.severity], finding.since, field)
  redis.call('ZADD', keys.of_sites, 0, (finding.site or finding.target) .. '\\n' .. field)
end
local function remove_from_indexes(field, finding)
  redis.call('ZREM', keys['since_' .. finding.severity], field)
  redis.call('ZREM', keys.of_sites, (finding.site or finding.target) .. '\\n' .. field)
end
local function note_resolved(finding)
  local at = tonumber(args.started_at)
  finding.resolvedAt = at
  redis.call('ZADD', keys.resolved, at, cjson.encode(finding))
  redis.call('ZREMRANGEBYRANK', keys.resolved, 0, -${MAX_RESOLVED + 1})
  redis.call('ZREMRANGEBYSCORE', keys.resolved, '-inf', '(' .. (at - ${RESOLVED_KEPT_MS}))
end
local function note_day()
  local counts = {}
  for _, severity in ipairs({'error', 'warning', 'info'}) do
    local key = keys['since_' .. severity]
    table.insert(counts, redis.call('ZCARD', key))
    redis.call('PEXPIRE', key, args.ttl)
  end
  redis.call('HSET', keys.days, args.day, table.concat(counts, ' '))
  local days = redis.call('HKEYS', keys.days)
  table.sort(days)
  for i = 1, #days - ${TREND_DAYS} do redis.call('HDEL', keys.days, days[i]) end
  local at = tonumber(args.started_at)
  redis.call('ZADD', keys.policies, 'GT', at, args.of)
  redis.call('ZREMRANGEBYSCORE', keys.policies, '-inf', '(' .. (at - args.ttl))
  for _, name in ipairs({'findings', 'of_sites', 'resolved', 'days', 'policies'}) do
    redis.call('PEXPIRE', keys[name], args.ttl)
  end
end`;
