/** Faults as they are asked for by name, each with a rate: `--faults flaky` or `--faults reset-after:0.05,slow:0.1`. */

/** Every fault that comes by chance: what it is, and how often it comes when no rate is given. */
export const faultNames = {
  'error-before': { says: '500, and nothing was done', rate: 0.05 },
  'error-after': { says: '500, and yet it was done', rate: 0.05 },
  'reset-before': { says: 'the connection is cut, and nothing was done', rate: 0.05 },
  'reset-after': { says: 'the connection is cut, and yet it was done', rate: 0.05 },
  truncate: { says: 'done, but the answer ends in the middle', rate: 0.05 },
  garbage: { says: 'done, but the answer is an HTML page', rate: 0.05 },
  slow: { says: 'the answer comes ten seconds late', rate: 0.1 },
  'bare-429': { says: '429 without rate headers', rate: 0.05 },
  'other-consumer': { says: 'somebody else sends ten requests with the same account', rate: 0.1 },
  maintenance: { says: 'whole minutes of 503 pages with Retry-After; the rate is their share', rate: 0.1 },
  'stuck-tasks': { says: 'tasks that never end', rate: 0.1 },
  'failing-tasks': { says: 'tasks that fail', rate: 0.1 },
  'aborted-tasks': { says: 'tasks that are aborted', rate: 0.1 },
  'storage-down': { says: 'tests of backup destinations answer 503', rate: 0.3 },
  'unknown-values': { says: 'fields and enum values that no contract knows', rate: 0.2 },
  'moving-items': { says: 'items move between pages while they are read', rate: 0.2 },
} as const;

export type FaultName = keyof typeof faultNames;
/** How often each fault comes, from 0 to 1. */
export type FaultRates = { readonly [N in FaultName]?: number };

/** Faults that usually come together. */
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
  stormy: {
    'error-before': 0.05,
    'error-after': 0.05,
    'reset-before': 0.05,
    'reset-after': 0.05,
    truncate: 0.05,
    garbage: 0.05,
    slow: 0.1,
    'bare-429': 0.05,
    'other-consumer': 0.1,
    maintenance: 0.1,
    'stuck-tasks': 0.05,
    'failing-tasks': 0.05,
    'aborted-tasks': 0.05,
    'storage-down': 0.3,
    'unknown-values': 0.1,
    'moving-items': 0.1,
  },
} as const satisfies Record<string, FaultRates>;

/**
 * Reads faults and sets of them, separated by commas, each with a rate of its own (`slow:0.1`) or without. What comes
 * later wins, so `flaky,slow:0` is flaky without slow answers. With a rate, a set has each of its faults at that rate.
 *
 * @throws {RangeError} for a name that there is not, or a rate that is none.
 */
export function parseFaults(text: string): FaultRates {
  const rates: { [N in FaultName]?: number } = {};
  for (const one of text.split(',').filter((part) => part.trim() !== '')) {
    const [name = '', given] = one.trim().split(':');
    const rate = given === undefined ? undefined : Number(given);
    if (rate !== undefined && !(given !== '' && rate >= 0 && rate <= 1)) {
      throw new RangeError(`The rate of a fault is a number from 0 to 1, not "${given}".`);
    }
    for (const [fault, usual] of Object.entries(named(name))) rates[fault as FaultName] = rate ?? usual;
  }
  return rates;
}

function named(name: string): FaultRates {
  if (Object.hasOwn(faultSets, name)) return faultSets[name as keyof typeof faultSets];
  if (Object.hasOwn(faultNames, name)) return { [name]: faultNames[name as FaultName].rate };
  const known = [...Object.keys(faultSets), ...Object.keys(faultNames)];
  throw new RangeError(`There is no fault "${name}". There are: ${known.join(', ')}.`);
}

/** All faults and sets, a line each, for a command's help. */
export function listFaults(): string {
  const width = Math.max(...Object.keys(faultNames).map((name) => name.length)) + 2;
  const faults = Object.entries(faultNames).map(
    ([name, { says, rate }]) => `  ${name.padEnd(width)}${says} (${rate})`,
  );
  const sets = Object.entries(faultSets).map(
    ([name, rates]) =>
      `  ${name.padEnd(width)}${Object.keys(rates).length === faults.length ? 'all of them' : Object.keys(rates).join(', ')}`,
  );
  return ['Faults, with their usual rates:', ...faults, '', 'Sets of faults:', ...sets].join('\n');
}
