/** Reads findings by their indexes (`finding-indexes.ts`): counts, pages, and those of a site. */
import { isoTime } from '../clock.ts';
import { DAY_MS } from '../dates.ts';
import { defineScript } from '../redis/script.ts';
import type { Store } from '../redis/store.ts';
import { type Severity, severities } from './filter-values.ts';
import { indexKeysOf, KnownFinding, ResolvedFinding, TREND_DAYS } from './finding-indexes.ts';
import { keys } from './keys.ts';
import { parseRecord } from './parse-record.ts';

// Scripts that read what many policies have of findings, so that a page costs few commands. They change nothing.

/** How many policies are read in one script: it takes less than a millisecond. */
const POLICIES_AT_ONCE = 20;
/** How many of them, where each of up to 50 sites is looked for. */
const POLICIES_OF_SITES_AT_ONCE = 10;

/**
 * Of each policy and severity: how many findings are open, how many were seen first after `new_since`, and when the
 * oldest was, or ''; then how many findings of the policy a person has acknowledged at any time. `indexes`: of each
 * policy the findings by age, for each severity, and the acknowledged ones.
 */
const countFindings = defineScript(
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
const countOnSites = defineScript(
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
const listFields = defineScript(
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

/** A policy in an account. */
export interface FindingPolicy {
  account: string;
  policy: string;
}

/** The open findings of a policy with one severity. */
export interface FindingGroup extends FindingPolicy {
  severity: Severity;
  open: number;
  /** Those of them that were seen first after the given time. */
  new: number;
  /** When the oldest of them was seen first; missing without any. */
  since?: number;
  /** A person has acknowledged a finding of the policy, now or earlier, of any severity. */
  hasAcknowledged?: true;
}

export type GroupName = Pick<FindingGroup, 'severity' | 'policy' | 'account'>;

/** Which open findings of groups are listed. */
interface ListedPart {
  after?: { field: string; rank: number } | undefined;
  /** Those that were seen first after `newSince`, or the others; default: all. */
  state?: 'new' | 'open' | undefined;
  newSince: number;
  count: number;
}

/** Open findings of a group that come one after the other. `rank`: of the first one in its group. */
export interface ListedGroup {
  group: GroupName;
  rank: number;
  fields: readonly string[];
}

const OnlySeverity = KnownFinding.pick({ severity: true });
/** How many values `countFindings` gives of a policy. */
const FIELDS = severities.length * 3 + 1;

const groupsIn = (of: FindingPolicy, counts: readonly string[]): FindingGroup[] =>
  severities.map((severity, at): FindingGroup => {
    const [open, fresh, since] = counts.slice(at * 3, at * 3 + 3);
    return {
      ...of,
      severity,
      open: Number(open),
      new: Number(fresh),
      ...(since ? { since: Number(since) } : {}),
      ...(Number(counts.at(-1)) > 0 ? { hasAcknowledged: true } : {}),
    };
  });

const pagesOf = <T>(all: readonly T[], size: number): (readonly T[])[] =>
  Array.from({ length: Math.ceil(all.length / size) }, (_, page) =>
    all.slice(page * size, (page + 1) * size),
  );

/** How many were open after the last run of each of the last 30 days; undefined before the first known day. */
export type FindingTrend = readonly (number | undefined)[];

const dayOf = (at: number): string => isoTime(at).slice(0, 10);
/** Findings of a site in one policy that are read. */
const MAX_OF_SITE = 100;

export class OpenFindingsStore {
  constructor(private readonly store: Store) {}

  /** The policies that have, or lately had, findings. There are as many as policies have run in 400 days. */
  async policies(): Promise<FindingPolicy[]> {
    return (await this.store.zrange(keys.findingPolicies, '0', '-1')).map((member) => {
      const [account = '', policy = ''] = member.split('\n');
      return { account, policy };
    });
  }

  /** The groups of these policies that have open findings. Costs one short script for each 20 policies. */
  async groups(policies: readonly FindingPolicy[], newSince: number): Promise<FindingGroup[]> {
    const pages = await Promise.all(
      pagesOf(policies, POLICIES_AT_ONCE).map(async (page) => {
        const counts = (await countFindings(this.store, {
          keys: {},
          keyList: page.flatMap(({ account, policy }) => [
            ...severities.map((severity) => keys.findingsSince(account, policy, severity)),
            keys.acknowledged(account, policy),
          ]),
          args: { new_since: `(${newSince}` },
        })) as string[];
        return page.flatMap((of, at) => groupsIn(of, counts.slice(at * FIELDS, (at + 1) * FIELDS)));
      }),
    );
    return pages.flat().filter(({ open }) => open > 0);
  }

  /**
   * Which findings of these groups are open, in each the newest first, all at one moment. `after`: in the first group
   * those after a field, or where it is not open any more from a rank on.
   */
  async list(
    groups: readonly GroupName[],
    { after, state, newSince, count }: ListedPart,
  ): Promise<ListedGroup[]> {
    const found = (await listFields(this.store, {
      keys: {},
      keyList: groups.map(({ account, policy, severity }) => keys.findingsSince(account, policy, severity)),
      args: {
        ...{ after: after?.field ?? '', from: after?.rank ?? 0 },
        ...{ state: state ?? '', newer_than: `(${newSince}`, count },
      },
    })) as [number, number, string[]][];
    return found.flatMap(([at, rank, fields]) => {
      const group = groups[at];
      return group ? { group, rank, fields } : [];
    });
  }

  /** How many findings of these policies are open on each of the sites of an account. */
  async countOfSites(policies: readonly FindingPolicy[], sites: readonly string[]): Promise<number[]> {
    if (sites.length === 0) return [];
    const pages = await Promise.all(
      pagesOf(policies, POLICIES_OF_SITES_AT_ONCE).map(
        (page) =>
          countOnSites(this.store, {
            keys: {},
            keyList: page.map(({ account, policy }) => keys.findingsOfSites(account, policy)),
            argList: sites,
          }) as Promise<number[]>,
      ),
    );
    return sites.map((_, at) => pages.reduce((sum, counts) => sum + (counts[at] ?? 0), 0));
  }

  /** When each of these findings was seen first, as far as it is open with this severity. */
  async sinceOf(
    { account, policy, severity }: GroupName,
    fields: readonly string[],
  ): Promise<(number | undefined)[]> {
    if (fields.length === 0) return [];
    const scores = await this.store.zmscore(keys.findingsSince(account, policy, severity), ...fields);
    return scores.map((score) => (score === null ? undefined : Number(score)));
  }

  /** These findings of a policy, as far as they are open. `text`: those without it, in any case, may be left out. */
  some(of: FindingPolicy, fields: readonly string[], text?: string): Promise<KnownFinding[]> {
    return this.many(of, fields, text);
  }

  /** The open findings of a policy on a site, at most 100. */
  async ofSite(of: FindingPolicy, site: string): Promise<KnownFinding[]> {
    const { of_sites } = indexKeysOf(of.account, of.policy);
    const members = await this.store.zrangebylex(
      of_sites,
      `[${site}\n`,
      `(${site}\u000b`,
      'LIMIT',
      0,
      MAX_OF_SITE,
    );
    return this.many(
      of,
      members.map((member) => member.slice(site.length + 1)),
    );
  }

  /** The findings of a policy that were resolved after the time, the latest first: at most 200, of 30 days. */
  async resolved({ account, policy }: FindingPolicy, after: number): Promise<ResolvedFinding[]> {
    const key = keys.findingsResolved(account, policy);
    const found = await this.store.zrange(key, '+inf', `(${after}`, 'BYSCORE', 'REV');
    return found.map((json) => parseRecord(ResolvedFinding, json, key));
  }

  /** How many of a policy were resolved after the time, by severity; at most 200 in all. */
  async countResolved({ account, policy }: FindingPolicy, after: number): Promise<Record<Severity, number>> {
    const key = keys.findingsResolved(account, policy);
    const found = await this.store.zrange(key, '+inf', `(${after}`, 'BYSCORE', 'REV');
    const counts: Record<Severity, number> = { error: 0, warning: 0, info: 0 };
    // Only the severity is parsed: this is read for many policies at once.
    for (const json of found) counts[parseRecord(OnlySeverity, json, key).severity] += 1;
    return counts;
  }

  /** The trend of a severity over the last 30 days. A day without a run has the number of the day before. */
  async trend({ account, policy }: FindingPolicy, now: number): Promise<Record<Severity, FindingTrend>> {
    const noted = await this.store.hgetall(keys.findingsDays(account, policy));
    const trends: Record<Severity, (number | undefined)[]> = { error: [], warning: [], info: [] };
    const from = dayOf(now - (TREND_DAYS - 1) * DAY_MS);
    const before = Object.keys(noted).filter((day) => day < from);
    let counts = noted[before.sort().at(-1) ?? '']?.split(' ');
    for (let at = now - (TREND_DAYS - 1) * DAY_MS; at <= now; at += DAY_MS) {
      counts = noted[dayOf(at)]?.split(' ') ?? counts;
      for (const [index, severity] of severities.entries())
        trends[severity].push(counts && Number(counts[index] ?? 0));
    }
    return trends;
  }

  private async many(
    { account, policy }: FindingPolicy,
    fields: readonly string[],
    text = '',
  ): Promise<KnownFinding[]> {
    if (fields.length === 0) return [];
    const key = keys.findings(account, policy);
    const found = await this.store.hmget(key, ...fields);
    const mayHave = mayHaveText(text);
    return found.flatMap((json) =>
      json === null || !mayHave(json) ? [] : [parseRecord(KnownFinding, json, key)],
    );
  }
}

/** Whether a record may have a text somewhere, in any case: to parse thousands of them takes longer. */
function mayHaveText(text: string): (json: string) => boolean {
  // What JSON, or Lua's JSON, writes in another way is not looked for here.
  if (text === '' || !/^[\w .,:@-]+$/.test(text)) return () => true;
  const wanted = text.toLowerCase();
  return (json) => json.toLowerCase().includes(wanted);
}
