/** The filters of the list of findings, as its address holds them. */
import type { z } from 'zod';
import type { listFindingsCommand } from '../../control/commands/list-findings.ts';
import { findingStates, severities } from '../../records/filter-values.ts';
import { readTimes } from './run-query.ts';

/** Parameters of the address, in the order of the fields. */
export const findingParameters = ['q', 'severity', 'state', 'policy', 'account', 'from', 'to'] as const;
type Parameter = (typeof findingParameters)[number];

export interface FindingQuery {
  /** What was given, for fields and links. */
  given: Readonly<Partial<Record<Parameter, string>>>;
  filter: z.input<typeof listFindingsCommand.input>;
  /** What cannot be understood, a sentence each. */
  faults: readonly string[];
}

export function readFindingQuery(query: (name: string) => string | undefined, now: number): FindingQuery {
  const given: Partial<Record<Parameter, string>> = {};
  for (const name of findingParameters) {
    const value = query(name)?.trim().slice(0, 200);
    if (value) given[name] = value;
  }
  const severity = severities.find((one) => one === given.severity);
  const state = findingStates.find((one) => one === given.state);
  const { q: search, policy, account } = given;
  const faults: string[] = [];
  const times = readTimes(given, now, faults);
  return { given, filter: { severity, state, search, policy, account, ...times }, faults };
}
