/** The filters of the list of runs, as its address holds them. */

import type { z } from 'zod';
import { isoTime } from '../../clock.ts';
import type { listRunsCommand } from '../../control/commands/list-runs.ts';
import { statusFilters } from '../../control/runs.ts';
import { DAY_MS } from '../../dates.ts';
import { type RunStatus, type Trigger, triggers } from '../../run/run.ts';
import { isWholeDay, parsePast } from '../../yaml/written-time.ts';

/** Parameters of the address, in the order of the fields. */
export const runParameters = ['status', 'policy', 'trigger', 'account', 'reason', 'from', 'to'] as const;
type Parameter = (typeof runParameters)[number];

type RunFilter = z.input<typeof listRunsCommand.input>;

export interface RunQuery {
  /** What was given, for fields and links. */
  given: Readonly<Partial<Record<Parameter, string>>>;
  filter: RunFilter;
  /** What cannot be understood, a sentence each. */
  faults: readonly string[];
}

export function readRunQuery(query: (name: string) => string | undefined, now: number): RunQuery {
  const given: Partial<Record<Parameter, string>> = {};
  for (const name of runParameters) {
    const value = query(name)?.trim().slice(0, 200);
    if (value) given[name] = value;
  }
  const faults: string[] = [];
  const oneOf = <T extends string>(name: Parameter, choices: readonly T[]): T | undefined => {
    const value = given[name];
    const found = choices.find((one) => one === value);
    if (value !== undefined && found === undefined) faults.push(`There is no ${name} “${value}”.`);
    return found;
  };
  const filter: RunFilter = {
    status: oneOf<RunStatus | 'active'>('status', statusFilters),
    policy: given.policy,
    trigger: oneOf<Trigger>('trigger', triggers),
    account: given.account,
    reason: given.reason,
    ...readTimes(given, now, faults),
  };
  return { given, filter, faults };
}

/** Times, or durations back from now. A day is included as the end. Adds to `faults` what cannot be understood. */
export function readTimes(
  { from, to }: { from?: string | undefined; to?: string | undefined },
  now: number,
  faults: string[],
): { since: string | undefined; until: string | undefined } {
  const read = (text = '', isEnd = false): string | undefined => {
    if (text === '') return undefined;
    const at = parsePast(text, now);
    if (at !== undefined) return isoTime(isEnd && isWholeDay(text) ? at + DAY_MS : at);
    faults.push(`“${text}” is neither a time nor a duration: write ${isoTime(now).slice(0, 10)} or 7d.`);
    return undefined;
  };
  return { since: read(from), until: read(to, true) };
}
