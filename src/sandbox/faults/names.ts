/** Faults by name, each with a rate: `--faults flaky` or `--faults reset-after:0.05,slow:0.1`. */

import { background } from './background.ts';
import { changes } from './changes.ts';
import { stops } from './stops.ts';
import type { FaultTable } from './table.ts';

const tables = {
  'Faults that stop a request': stops,
  'Faults that change an answer': changes,
  "Faults in the service's own work": background,
} as const satisfies Record<string, FaultTable>;

/** The names of a table's faults that have a rate. */
type NamesIn<T> = { [N in keyof T]: T[N] extends { rate: number } ? N : never }[keyof T];
export type FaultName = NamesIn<typeof stops> | NamesIn<typeof changes> | NamesIn<typeof background>;
/** The rate of each fault, from 0 to 1. */
export type FaultRates = { readonly [N in FaultName]?: number };

const rated = (table: FaultTable): [string, { help: string; rate: number }][] =>
  Object.entries(table).flatMap(([name, { help, rate }]) =>
    rate === undefined ? [] : [[name, { help, rate }]],
  );

/** Every random fault, with its description and default rate. */
export const faultNames = Object.fromEntries(Object.values(tables).flatMap(rated)) as {
  readonly [N in FaultName]: { help: string; rate: number };
};

/** Faults that usually occur together. */
export const faultSets = {
  flaky: {
    'error-before': 0.02,
    'error-after': 0.02,
    'reset-before': 0.02,
    'reset-after': 0.02,
    truncate: 0.01,
    garbage: 0.01,
    slow: 0.02,
  },
  busy: { 'other-consumer': 0.3, 'bare-429': 0.05, slow: 0.1 },
  'bad-tasks': { 'stuck-tasks': 0.1, 'failing-tasks': 0.1, 'aborted-tasks': 0.1 },
  drifting: { 'unknown-values': 0.3, 'moving-items': 0.3 },
  untidy: {
    'html-400': 0.02,
    redirect: 0.02,
    'redirect-away': 0.02,
    'absent-fields': 0.2,
    'other-timestamps': 0.3,
    'numbers-as-text': 0.2,
    'other-errors': 0.3,
    'hostile-text': 0.3,
    'html-errors': 0.2,
    'gzip-accepted': 0.3,
    gzip: 0.1,
  },
  stormy: {
    ...each(stops, 0.05),
    ...each(changes, 0.1),
    ...each(background, 0.05),
    maintenance: 0.1,
    'storage-down': 0.3,
  },
} as const satisfies Record<string, FaultRates>;

/** All rated faults of a table, at one rate. */
function each<T extends FaultTable>(table: T, rate: number): { [N in NamesIn<T>]: number } {
  return Object.fromEntries(rated(table).map(([name]) => [name, rate])) as { [N in NamesIn<T>]: number };
}

/**
 * Parses faults and sets of them, separated by commas, each with its own rate (`slow:0.1`) or without. Later
 * entries override earlier ones, so `flaky,slow:0` is flaky without slow answers. The rate of a set applies
 * to each of its faults.
 *
 * @throws {RangeError} for an unknown name or an invalid rate.
 */
export function parseFaults(text: string): FaultRates {
  const rates: { [N in FaultName]?: number } = {};
  for (const one of text.split(',').filter((part) => part.trim() !== '')) {
    const [name = '', given] = one.trim().split(':');
    const rate = given === undefined ? undefined : Number(given);
    if (rate !== undefined && !(given !== '' && rate >= 0 && rate <= 1)) {
      throw new RangeError(`The rate of a fault must be a number from 0 to 1, not "${given}".`);
    }
    for (const [fault, usual] of Object.entries(named(name))) rates[fault as FaultName] = rate ?? usual;
  }
  return rates;
}

function named(name: string): FaultRates {
  if (Object.hasOwn(faultSets, name)) return faultSets[name as keyof typeof faultSets];
  if (Object.hasOwn(faultNames, name)) return { [name]: faultNames[name as FaultName].rate };
  const known = [...Object.keys(faultSets), ...Object.keys(faultNames)];
  throw new RangeError(`There is no fault "${name}". Available: ${known.join(', ')}.`);
}

/** All faults and sets, for a command's help. */
export function listFaults(): string {
  const width = Math.max(...Object.keys(faultNames).map((name) => name.length)) + 2;
  const groups = Object.entries(tables).map(([title, table]) =>
    [
      `${title}, with their default rates:`,
      ...rated(table).map(([name, { help, rate }]) => `  ${name.padEnd(width)}${help} (${rate})`),
    ].join('\n'),
  );
  const count = Object.keys(faultNames).length;
  const sets = Object.entries(faultSets).map(([name, rates]) => {
    const faults = Object.keys(rates);
    return `  ${name.padEnd(width)}${faults.length === count ? 'all of them' : faults.join(', ')}`;
  });
  return [...groups, ['Sets of faults:', ...sets].join('\n')].join('\n\n');
}
