/**
 * The ends of runs, by policy: the scheduler finds here which runs the policies after it are to get.
 *
 * The script that ends a run writes its end, each at a time of its own that is later than any before. So a
 * policy that follows can remember with one number which ends it has processed, and no end is lost when a
 * process dies. An end is removed with its run.
 */
import { z } from 'zod';
import { HOUR_MS } from '../dates.ts';
import { defineScript } from '../redis/script.ts';
import type { Store } from '../redis/store.ts';
import { shownStatuses } from '../run/moves.ts';
import { outcomes, reason } from '../run/run.ts';
import { keys } from './keys.ts';
import { checkRecord } from './parse-record.ts';

export interface RunEnd {
  run: string;
  /** When it ended, in milliseconds since 1970; no two ends of one policy have the same time. */
  at: number;
}

export class EndStore {
  constructor(private readonly store: Store) {}

  /** When the latest run of each of these policies ended; in one round trip. */
  async latest(policies: readonly string[]): Promise<Map<string, number>> {
    if (policies.length === 0) return new Map();
    const reads = this.store.pipeline();
    for (const policy of policies) reads.zrevrange(keys.ends(policy), 0, 0, 'WITHSCORES');
    const answers = (await reads.exec()) ?? [];
    return new Map(
      policies.flatMap((policy, index) => {
        const [error, found] = answers[index] ?? [];
        if (error) throw error;
        const [end] = endsIn(found as string[]);
        return end ? [[policy, end.at] as const] : [];
      }),
    );
  }

  /** The ends after `after` and not after `until`, oldest first; at most `limit`, from the oldest on. */
  async between(policy: string, after: number, until: number, limit: number): Promise<RunEnd[]> {
    const found = await this.store.zrange(
      keys.ends(policy),
      `(${after}`,
      until === Number.POSITIVE_INFINITY ? '+inf' : String(until),
      'BYSCORE',
      'LIMIT',
      0,
      limit,
      'WITHSCORES',
    );
    return endsIn(found);
  }
}

/** Members and scores in turn. */
const endsIn = (found: readonly string[]): RunEnd[] =>
  Array.from({ length: Math.floor(found.length / 2) }, (_, index) => ({
    run: found[2 * index] ?? '',
    at: Number(found[2 * index + 1]),
  }));

// Counts what ended in each hour: runs by status, targets by outcome and reason, both by policy and account, so that
// the totals of a user with limits are complete too.
//
// The script that ends a run adds to the totals, so that a day's totals are known without reading its runs. A
// run is added once: it has the mark `totalled`. An hour expires when no page needs it any more.

/** A day, the hour that it begins in, and one hour as a margin. */
const KEPT_MS = 26 * HOUR_MS;

/**
 * Prepended to a script: `add_to_totals(run key, its reasons' key, the hour's key, run id)`, called when the
 * run has its final status.
 *
 * A field is `run <status> <policy> <account>` or `target <outcome> <reason> <policy> <account>`. Its value is the
 * count, the number of runs, and the latest run.
 */
export const ADD_TO_TOTALS = `
local function add_to_totals(run, reasons, totals, id)
  if redis.call('HSETNX', run, 'totalled', 1) == 0 then return end
  local status, policy, account, found, failed =
    unpack(redis.call('HMGET', run, 'status', 'policy', 'account', 'found', 'failed'))
  -- As shownStatus() of run/moves.ts.
  if found and found == failed and (status == 'failed' or status == 'partial') then status = 'found' end
  local function add(what, count)
    local field = what .. ' ' .. policy .. ' ' .. account
    local known, runs = string.match(redis.call('HGET', totals, field) or '0 0', '^(%d+) (%d+)')
    redis.call('HSET', totals, field, string.format('%d %d %s', known + count, runs + 1, id))
  end
  add('run ' .. status, 1)
  local ended = redis.call('HGETALL', reasons)
  for i = 1, #ended, 2 do add('target ' .. ended[i], tonumber(ended[i + 1])) end
  redis.call('PEXPIRE', totals, ${KEPT_MS})
end`;

/** Returns the active runs and the totals at the same time: a run is in exactly one of the two. */
const readTotals = defineScript(
  { keys: ['active_accounts'], keyList: 'hours', args: ['active_runs_prefix'] },
  `
local active = {}
for _, account in ipairs(redis.call('SMEMBERS', keys.active_accounts)) do
  for _, id in ipairs(redis.call('SMEMBERS', args.active_runs_prefix .. account)) do
    active[#active + 1] = id
  end
end
local totals = {}
for i, hour in ipairs(hours) do totals[i] = redis.call('HGETALL', hour) end
return {active, totals}`,
);

/** How many runs or targets a field of the totals counts. */
export interface Total {
  /** Runs, or targets of them. */
  count: number;
  runs: number;
  /** The id of the run that ended last. */
  latest: string;
}

/** What a field counts. */
const of = { policy: z.string(), account: z.string() };
const RunField = z.object({ status: z.enum(shownStatuses), ...of });
const TargetField = z.object({ outcome: z.enum(outcomes), reason, ...of });

/** How many targets of the runs that ended in an hour had this outcome for this reason. */
interface HourCount extends z.output<typeof TargetField> {
  /** The beginning of the hour. */
  hour: number;
  count: number;
}

export interface Totals {
  /** The start of the first full hour. */
  since: number;
  /** Targets by the hour in which their run ended. */
  hours: HourCount[];
  /** Runs by status. */
  runs: (Total & z.output<typeof RunField>)[];
  /** Targets by outcome and reason. */
  targets: (Total & z.output<typeof TargetField>)[];
  /** The runs that had not ended, of all accounts: none of them is in the totals. */
  active: string[];
}

/** The key of the hour of a time. */
export const hourOf = (at: number): string => keys.totals(Math.floor(at / HOUR_MS) * HOUR_MS);

export class TotalsStore {
  constructor(private readonly store: Store) {}

  /** What ended from the full hour before `from` until `now`. At most a day: older hours have expired. */
  async between(from: number, now: number): Promise<Totals> {
    const since = Math.floor(from / HOUR_MS) * HOUR_MS;
    const hours: string[] = [];
    for (let at = since; at <= now; at += HOUR_MS) hours.push(keys.totals(at));
    // Runs end in the current hour, or just ended in the one before, so only these two are read atomically.
    // Reading the others does not block Redis.
    const [over, open] = [hours.slice(0, -2), hours.slice(-2)];
    const [active, recent] = (await readTotals(this.store, {
      keys: { active_accounts: keys.activeAccounts },
      keyList: open,
      args: { active_runs_prefix: keys.activeRuns('') },
    })) as [string[], string[][]];
    const sums = new Map<string, Total>();
    const past = await Promise.all(over.map((hour) => this.store.hgetall(hour)));
    const byHour = [...past.map((fields) => Object.entries(fields)), ...recent.map(pairsOf)];
    for (const fields of byHour) addUp(sums, fields);
    const counts = byHour.flatMap((fields, at) => hourCounts(since + at * HOUR_MS, fields));
    return { since, active, hours: counts, ...totalsOf(sums) };
  }
}

/** Adds the totals of an hour to those of the hours before it. */
function addUp(sums: Map<string, Total>, fields: readonly (readonly [string, string])[]): void {
  for (const [field, value] of fields) {
    const [count, runs, latest = ''] = value.split(' ');
    const before = sums.get(field) ?? { count: 0, runs: 0 };
    sums.set(field, { count: before.count + Number(count), runs: before.runs + Number(runs), latest });
  }
}

/** The targets that one hour counts. */
const hourCounts = (hour: number, fields: readonly (readonly [string, string])[]): HourCount[] =>
  fields.flatMap(([field, value]) => {
    const [kind, outcome, why, policy, account] = field.split(' ');
    if (kind !== 'target') return [];
    const checked = checkRecord(TargetField, { outcome, reason: why, policy, account }, TOTALS);
    return [{ hour, ...checked, count: Number(value.split(' ')[0]) }];
  });

const pairsOf = (flat: readonly string[]): [string, string][] =>
  flat.flatMap((field, at) => (at % 2 === 0 ? [[field, flat[at + 1] ?? '']] : []));

/** The pattern of the keys, for errors. */
const TOTALS = keys.totals('*');

function totalsOf(sums: ReadonlyMap<string, Total>): Pick<Totals, 'runs' | 'targets'> {
  const totals: Pick<Totals, 'runs' | 'targets'> = { runs: [], targets: [] };
  for (const [field, total] of sums) {
    const [kind, ...words] = field.split(' ');
    if (kind === 'run') {
      const [status, policy, account] = words;
      totals.runs.push({
        ...total,
        ...checkRecord(RunField, { status, policy, account }, TOTALS),
      });
    } else {
      const [outcome, reason, policy, account] = words;
      totals.targets.push({
        ...total,
        ...checkRecord(TargetField, { outcome, reason, policy, account }, TOTALS),
      });
    }
  }
  return totals;
}
