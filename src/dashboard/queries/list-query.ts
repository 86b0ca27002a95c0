/** The filters of the lists of runs, findings and notifications, as their addresses hold them. */
import type { z } from 'zod';
import { isoTime } from '../../clock.ts';
import type { listFindingsCommand } from '../../control/commands/list-findings.ts';
import type { listRunsCommand } from '../../control/commands/list-runs.ts';
import type { listDeliveries } from '../../control/commands/notifications.ts';
import { InvalidRequestError } from '../../control/errors.ts';
import { statusFilters } from '../../control/runs.ts';
import { DAY_MS } from '../../dates.ts';
import { deliveryStates, findingStates, severities } from '../../records/filter-values.ts';
import { type RunStatus, type Trigger, triggers } from '../../run/run.ts';
import { isWholeDay, parsePast } from '../../yaml/written-time.ts';

type Parameters = (name: string) => string | undefined;

interface ListQuery<Name extends string, Filter> {
  /** What was given, for fields and links. */
  given: Readonly<Partial<Record<Name, string>>>;
  filter: Filter;
  /** What cannot be understood, a sentence each. */
  faults: readonly string[];
}

/** Parameters of the addresses, in the order of the fields. */
export const runParameters = ['status', 'policy', 'trigger', 'account', 'reason', 'from', 'to'] as const;
export const findingParameters = ['q', 'severity', 'state', 'policy', 'account', 'from', 'to'] as const;
export const deliveryParameters = ['receiver', 'state', 'policy', 'from', 'to'] as const;

export type RunQuery = ListQuery<(typeof runParameters)[number], z.input<typeof listRunsCommand.input>>;
export type FindingQuery = ListQuery<
  (typeof findingParameters)[number],
  z.input<typeof listFindingsCommand.input>
>;
export type DeliveryQuery = ListQuery<
  (typeof deliveryParameters)[number],
  z.input<typeof listDeliveries.input>
>;

/** @throws {InvalidRequestError} when something cannot be understood. */
export function requireValid<Query extends Pick<RunQuery, 'faults'>>(query: Query): Query {
  if (query.faults.length > 0) throw new InvalidRequestError(query.faults.join(' '));
  return query;
}

function givenIn<Name extends string>(
  names: readonly Name[],
  query: Parameters,
): Partial<Record<Name, string>> {
  const given: Partial<Record<Name, string>> = {};
  for (const name of names) {
    const value = query(name)?.trim().slice(0, 200);
    if (value) given[name] = value;
  }
  return given;
}

export function readRunQuery(query: Parameters, now: number): RunQuery {
  const given = givenIn(runParameters, query);
  const faults: string[] = [];
  const oneOf = <T extends string>(name: keyof typeof given, choices: readonly T[]): T | undefined => {
    const value = given[name];
    const found = choices.find((one) => one === value);
    if (value !== undefined && found === undefined) faults.push(`There is no ${name} “${value}”.`);
    return found;
  };
  const filter = {
    status: oneOf<RunStatus | 'active'>('status', statusFilters),
    policy: given.policy,
    trigger: oneOf<Trigger>('trigger', triggers),
    account: given.account,
    reason: given.reason,
    ...readTimes(given, now, faults),
  };
  return { given, filter, faults };
}

export function readFindingQuery(query: Parameters, now: number): FindingQuery {
  const given = givenIn(findingParameters, query);
  const severity = severities.find((one) => one === given.severity);
  const state = findingStates.find((one) => one === given.state);
  const { q: search, policy, account } = given;
  const faults: string[] = [];
  const times = readTimes(given, now, faults);
  return { given, filter: { severity, state, search, policy, account, ...times }, faults };
}

export function readDeliveryQuery(query: Parameters, now: number): DeliveryQuery {
  const given = givenIn(deliveryParameters, query);
  const state = deliveryStates.find((one) => one === given.state);
  const { receiver: to, policy } = given;
  const faults: string[] = [];
  const times = readTimes(given, now, faults);
  return { given, filter: { to, state, policy, ...times }, faults };
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
