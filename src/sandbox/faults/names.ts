/** Faults by name, each with a rate: `--faults flaky` or `--faults reset-after:0.05,slow:0.1`. */

/** The form of the tables of the three kinds of faults. */
export type FaultTable = Readonly<Record<string, Fault>>;

interface Fault {
  help: string;
  /** The default rate, from 0 to 1, when the fault is given by name. */
  rate?: number;
}

// Faults in the service's own work, independent of requests.

export const background = {
  'stuck-tasks': { help: 'tasks that never end', rate: 0.1 },
  'failing-tasks': { help: 'tasks that fail', rate: 0.1 },
  'aborted-tasks': { help: 'tasks that are aborted', rate: 0.1 },
  'storage-down': { help: 'tests of backup destinations answer 503', rate: 0.3 },
} as const satisfies FaultTable;

// Faults that change an answer. Any number of them can affect a request, together with one of `stops`.

export const changes = {
  slow: { help: 'the answer comes ten seconds late', rate: 0.1 },
  'other-consumer': { help: 'another client of the account sends ten requests', rate: 0.1 },
  'unknown-values': { help: 'unknown fields and enum values', rate: 0.2 },
  'moving-items': {
    help: 'an item is added while pages are read: one is shown twice, and one not at all',
    rate: 0.2,
  },
  'unstable-order': {
    help: 'each page of a list after the first shows what the page before showed: some items are never shown',
    rate: 0.2,
  },
  'too-few-pages': { help: 'a list shows the right number of items, and one page', rate: 0.2 },
  'absent-fields': { help: 'three of ten fields that the contract does not require are missing', rate: 0.2 },
  'other-timestamps': { help: 'timestamps with +00:00 or Z, with and without milliseconds', rate: 0.3 },
  'numbers-as-text': {
    help: 'numbers as text, in pagination and in about half of all other places',
    rate: 0.2,
  },
  'other-errors': { help: 'errors as {message, error: code} instead of {error: {code, message}}', rate: 0.3 },
  'hostile-text': { help: 'messages with terminal escapes, hidden characters and credentials', rate: 0.3 },
  'html-errors': { help: 'errors as HTML pages, with their status and rate headers', rate: 0.3 },
  'gzip-accepted': { help: 'compressed answers, JSON and PDF, where the request accepts them', rate: 0.5 },
  gzip: { help: 'compressed answers, JSON and PDF, even where the request does not accept them', rate: 0.2 },
} as const satisfies FaultTable;

// Faults that prevent an answer: the request is not carried out, or its result is not shown.

/**
 * The most severe first: of several faults of one request, the first one applies. Those without a rate are
 * for tests only.
 *
 * With `failNext`, `refuse` is the same as `reset-before`: the connection is already accepted when the
 * operation is known.
 */
export const stops = {
  refuse: { help: 'nothing listens on the port' },
  hang: { help: 'the request is not carried out, and no answer is sent' },
  maintenance: {
    help: 'whole minutes of 503 pages with Retry-After; the rate is the fraction of minutes',
    rate: 0.1,
  },
  'reset-before': { help: 'the connection is cut; the request is not carried out', rate: 0.05 },
  'status-503': { help: '503 from a proxy, before the service handles the request' },
  'error-before': { help: '500; the request is not carried out', rate: 0.05 },
  'bare-429': { help: '429 without rate headers', rate: 0.05 },
  'html-400': {
    help: '400 with an HTML page from a proxy, without rate headers; the request is not carried out',
    rate: 0.05,
  },
  redirect: { help: '301, 302, 307 and 308 in turn, to another path of the same origin', rate: 0.05 },
  'redirect-away': { help: '301, 302, 307 and 308 in turn, to another origin', rate: 0.05 },
  'reset-after': { help: 'the connection is cut, but the request is carried out', rate: 0.05 },
  'error-after': { help: '500, but the request is carried out', rate: 0.05 },
  truncate: { help: 'the request is carried out, but the answer is truncated', rate: 0.05 },
  garbage: {
    help: 'the request is carried out, but the answer is an HTML page with the status of success',
    rate: 0.05,
  },
} as const satisfies FaultTable;

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
