/** `matrix` of a policy: the combinations of its values, of which each makes one policy. */

import { suggestionFor } from '../suggest.ts';
import { readStrictly } from '../yaml/read-strictly.ts';
import type { Path, Remark } from '../yaml/yaml-file.ts';
import { type LocatedValue, plainOf } from './located-value.ts';
import { placeholderName } from './placeholders.ts';
import { Matrix } from './policy-file.ts';

/** A value for each key of the matrix. */
export type Combination = ReadonlyMap<string, LocatedValue>;
/** A remark and the keys that lead to its place. */
export type Fault = [Path, Remark];

/** The maximum number of policies of one matrix. */
const MAX_POLICIES = 200;

/** The combinations of a matrix in the order of the file, or what is wrong with it. */
export function combinationsOf(matrix: LocatedValue): { combinations: Combination[] } | { faults: Fault[] } {
  const faults: Fault[] = [];
  const read = readStrictly(Matrix, plainOf(matrix), (path, remark) => {
    faults.push([path, remark]);
    return { file: '', line: 0, column: 0, path: '', message: '', frame: '' };
  });
  if (!('value' in read)) return { faults };
  const { content } = matrix;
  const entries = content.kind === 'map' ? content.entries : new Map<string, LocatedValue>();
  const axes = [...entries].filter(([name]) => name !== 'include' && name !== 'exclude');
  for (const [name] of axes) {
    if (!placeholderName.test(name))
      faults.push([[name], { at: 'key', form: true, message: invalidName(name) }]);
  }
  const excluded = itemsOf(entries.get('exclude')).map(mapEntries);
  const included = itemsOf(entries.get('include')).map(mapEntries);
  const [first] = included;
  const names = axes.length > 0 ? axes.map(([name]) => name) : [...(first?.keys() ?? [])];
  faults.push(...excluded.flatMap((one, i) => unknownKeys(one, names, ['exclude', i])));
  faults.push(
    ...included.flatMap((one, i) => [
      ...unknownKeys(one, names, ['include', i]),
      ...missingKeys(one, names, ['include', i]),
    ]),
  );
  if (names.length === 0) faults.push([[], { at: 'key', message: 'The matrix is empty.' }]);
  const product = axes.reduce((count, [, list]) => count * itemsOf(list).length, axes.length > 0 ? 1 : 0);
  if (product > MAX_POLICIES * 50) faults.push(tooMany(product));
  if (faults.length > 0) return { faults };
  const all = axes.length > 0 ? productOf(axes) : [];
  for (const [i, one] of excluded.entries()) {
    if (!all.some((combination) => matches(combination, one)))
      faults.push([['exclude', i], { message: 'This excludes no combination of the matrix.' }]);
  }
  const combinations = [
    ...all.filter((combination) => !excluded.some((one) => matches(combination, one))),
    ...included,
  ];
  if (combinations.length === 0 && faults.length === 0)
    faults.push([['exclude'], { at: 'key', message: 'Every combination of the matrix is excluded.' }]);
  if (combinations.length > MAX_POLICIES) faults.push(tooMany(combinations.length));
  return faults.length > 0 ? { faults } : { combinations };
}

const invalidName = (name: string): string =>
  `"${name}" must consist of letters, digits, hyphens and underscores, and start with a letter or an underscore.`;

const tooMany = (count: number): Fault => [
  [],
  { at: 'key', message: `The matrix makes ${count} policies; at most ${MAX_POLICIES} are supported.` },
];

const itemsOf = (value: LocatedValue | undefined): readonly LocatedValue[] =>
  value?.content.kind === 'list' ? value.content.items : [];

const mapEntries = ({ content }: LocatedValue): Combination =>
  content.kind === 'map' ? content.entries : new Map();

const unknownKeys = (one: Combination, names: readonly string[], path: Path): Fault[] =>
  [...one.keys()]
    .filter((key) => !names.includes(key))
    .map((key) => [
      [...path, key],
      { at: 'key', message: `"${key}" is no key of the matrix.`, suggestion: suggestionFor(key, names) },
    ]);

const missingKeys = (one: Combination, names: readonly string[], path: Path): Fault[] =>
  names
    .filter((name) => !one.has(name))
    .map((name) => [path, { message: `The combination has no "${name}".` }]);

function productOf(axes: readonly (readonly [string, LocatedValue])[]): Combination[] {
  let combinations: [string, LocatedValue][][] = [[]];
  for (const [name, list] of axes)
    combinations = combinations.flatMap((before) =>
      itemsOf(list).map((value): [string, LocatedValue][] => [...before, [name, value]]),
    );
  return combinations.map((one) => new Map(one));
}

/** Whether a combination has all these values. */
const matches = (combination: Combination, values: Combination): boolean =>
  [...values].every(([name, value]) => {
    const own = combination.get(name);
    return own !== undefined && JSON.stringify(plainOf(own)) === JSON.stringify(plainOf(value));
  });

/** `tag gold, region eu`: a combination in an error that not all of them have. */
export const formatCombination = (combination: Combination): string =>
  [...combination]
    .map(([name, value]) => `${name} ${JSON.stringify(plainOf(value)).slice(0, 60)}`)
    .join(', ');

/** A value of the matrix as a part of a policy's name; a map is called by its `name`, else its `id`. */
export function nameOf(value: LocatedValue): string | undefined {
  const { content } = value;
  if (content.kind === 'map') {
    const own = content.entries.get('name') ?? content.entries.get('id');
    return own?.content.kind === 'scalar' ? nameOf(own) : undefined;
  }
  if (content.kind === 'list' || content.value === null) return undefined;
  return kebabCase(String(content.value)) || undefined;
}

/** `Gold Plus` as `gold-plus`. */
export const kebabCase = (text: string): string =>
  text
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '');
