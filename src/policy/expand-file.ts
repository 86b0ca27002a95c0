/**
 * Makes complete policies of a file: merges `defaults` into each, replaces `${{ vars.x }}`, and makes one
 * policy of each combination of a `matrix`.
 *
 * A pure function of what the file holds. A file without these features is returned as it is.
 */
import type { Path, Remark } from '../yaml/yaml-file.ts';
import {
  expandText,
  expandValue,
  type Lookup,
  notFound,
  type SourceOf,
  valueIn,
  variablesOf,
} from './fill-placeholders.ts';
import { type LocatedValue, locate, mapOf, merged, scalarAt, valuesIn } from './located-value.ts';
import {
  type Combination,
  combinationsOf,
  type Fault,
  formatCombination,
  kebabCase,
  nameOf,
} from './matrix.ts';
import { piecesOf } from './placeholders.ts';

export interface PolicyFileContent {
  vars: Readonly<Record<string, unknown>>;
  defaults?: Readonly<Record<string, unknown>> | undefined;
  policies: readonly unknown[];
}

export interface ExpandedPolicy {
  /** Where the policy stands in the file. */
  path: Path;
  root: LocatedValue;
  /** Whether its file has `defaults`, so that what it lacks can be there. */
  hasDefaults: boolean;
  /** The values of the matrix that it has, such as `tag "gold"`. */
  combination?: string;
  /** What is wrong with its placeholders and its matrix, by places in the file. */
  faults: readonly Fault[];
}

export interface ExpandedFile {
  policies: ExpandedPolicy[];
  /** The defaults by themselves. */
  defaults?: ExpandedPolicy;
  faults: Fault[];
  /** Variables that no policy uses. */
  unused: string[];
}

/** The maximum size of all policies of a file. It stops a small file that expands into a very large one. */
const MAX_FILE_SIZE = 8 * 1024 * 1024;
const tooLarge = 'The policies of the file expand to more than 8 MiB.';

/** Expands the policies of a file. */
export function expandFile(content: PolicyFileContent, sourceOf: SourceOf = () => undefined): ExpandedFile {
  const variables = variablesOf(content.vars, sourceOf);
  const faults = variables.all().flatMap((one) => ('message' in one ? [] : faultsIn(one)));
  let size = 0;
  const policies: ExpandedPolicy[] = [];
  for (const [i, value] of content.policies.entries()) {
    for (const policy of expandPolicy(value, ['policies', i], {
      content,
      sourceOf,
      lookup: variables.lookup,
    })) {
      if (isChanged(policy.root)) size += policy.root.size;
      if (size > MAX_FILE_SIZE) {
        faults.push([policy.path, { message: tooLarge }]);
        return { policies, faults, unused: [] };
      }
      policies.push(policy);
    }
  }
  const unused = variables.unused();
  if (!content.defaults) return { policies, faults, unused };
  const root = expandValue(content.defaults, ['defaults'], {
    sourceOf,
    lookup: (names) => (names[0] === 'matrix' ? brokenScalar : variables.lookup(names)),
  });
  const defaults: ExpandedPolicy = { path: ['defaults'], root, hasDefaults: true, faults: [] };
  return { policies, defaults, faults, unused };
}

/** Whether a policy holds more than its own text. */
const isChanged = ({ content, place }: LocatedValue): boolean =>
  content.kind === 'map' &&
  [...content.entries.values()].some((one) => one.uses !== undefined || one.place[0] !== place[0]);

/** The values of a policy's matrix; `broken` where the matrix itself has errors. */
type Values = Combination | 'broken' | undefined;

interface Parts {
  content: PolicyFileContent;
  sourceOf: SourceOf;
  lookup: Lookup;
}

function expandPolicy(value: unknown, path: Path, parts: Parts): ExpandedPolicy[] {
  // Whatever it is, reading it as a policy reports it.
  const hasDefaults = parts.content.defaults !== undefined;
  if (!isMap(value)) return [{ path, root: locate(value, path), hasDefaults, faults: [] }];
  const { matrix, ...own } = value;
  if (!Object.hasOwn(value, 'matrix')) return [expandOne(own, path, undefined, parts)];
  const located = expandValue(matrix, [...path, 'matrix'], parts);
  const read = located.isBroken ? { faults: [] } : combinationsOf(located);
  if ('combinations' in read)
    return read.combinations.map((combination) => expandOne(own, path, combination, parts));
  const policy = expandOne(own, path, 'broken', parts);
  const isWritten = [...valuesIn(located)].every(({ uses, pieces }) => !uses && !pieces);
  const faults = read.faults.map(
    ([inner, remark]): Fault => [
      [...path, 'matrix', ...inner],
      { ...remark, form: remark.form && isWritten },
    ],
  );
  return [{ ...policy, faults: [...faultsIn(located), ...faults, ...policy.faults] }];
}

function expandOne(
  { name, ...own }: Record<string, unknown>,
  path: Path,
  combination: Values,
  { content, sourceOf, lookup: variable }: Parts,
): ExpandedPolicy {
  const lookup: Lookup = (names) =>
    names[0] === 'matrix' ? matrixValue(names, combination) : variable(names);
  const parts = { lookup, sourceOf };
  const standard = content.defaults && expandValue(content.defaults, ['defaults'], parts);
  const rest = expandValue(own, path, parts);
  const body = standard ? merged(standard, rest) : rest;
  if (body.size > MAX_FILE_SIZE)
    return { path, root: locate({}, path), hasDefaults: true, faults: [[path, { message: tooLarge }]] };
  const faults: Fault[] = faultsIn(body);
  if (standard && Object.hasOwn(content.defaults ?? {}, 'matrix')) faults.push(notADefault('matrix'));
  if (standard && Object.hasOwn(content.defaults ?? {}, 'name')) faults.push(notADefault('name'));
  const unused = unusedKeys(body, combination);
  faults.push(...unused.map((key): Fault => [[...path, 'matrix', key], neverUsed(key)]));
  const title = name === undefined ? undefined : expandName(name, [...path, 'name'], combination, parts);
  faults.push(...(title ? faultsIn(title) : []));
  const { content: map } = body;
  const entries = map.kind === 'map' ? [...map.entries] : [];
  return {
    path,
    hasDefaults: standard !== undefined,
    root: mapOf(title ? [['name', title], ...entries.filter(([key]) => key !== 'name')] : entries, path),
    ...(combination && combination !== 'broken' && { combination: formatCombination(combination) }),
    faults,
  };
}

function matrixValue([, key = '', ...inner]: readonly string[], combination: Values): LocatedValue | Remark {
  if (combination === 'broken') return brokenScalar;
  if (!combination) return { message: `There is no matrix.${key}: the policy has no "matrix".` };
  const value = combination.get(key);
  return value ? valueIn(value, `matrix.${key}`, inner) : notFound('matrix', key, [...combination.keys()]);
}

const brokenScalar: LocatedValue = { ...scalarAt(null, []), isBroken: true };

const notADefault = (key: string): Fault => [
  ['defaults', key],
  {
    at: 'key',
    form: true,
    message: `"${key}" cannot have a default.`,
    suggestion: 'write it in the policies',
  },
];

const neverUsed = (key: string): Remark => ({
  at: 'key',
  message: `"${key}" is used only for names, so several policies would do the same.`,
  suggestion: `use \${{ matrix.${key} }} in the policy`,
});

/** Keys of the matrix that change nothing of what the policy does. */
function unusedKeys(body: LocatedValue, combination: Values): string[] {
  if (!combination || combination === 'broken' || body.isBroken || body.content.kind !== 'map') return [];
  const used = new Set<string>();
  for (const [key, value] of body.content.entries) {
    if (key === 'description' || key === 'owner' || key === 'labels') continue;
    for (const { uses = [] } of valuesIn(value)) {
      for (const { name } of uses) used.add(name.split('.').slice(0, 2).join('.'));
    }
  }
  return [...combination.keys()].filter((key) => !used.has(`matrix.${key}`));
}

/** A policy's name. Values that it does not use itself distinguish the policies of a matrix. */
function expandName(
  name: unknown,
  place: Path,
  combination: Values,
  parts: { lookup: Lookup; sourceOf: SourceOf },
): LocatedValue {
  if (typeof name !== 'string') return locate(name, place);
  const expanded = expandText(name, place, { ...parts, format: kebabCase });
  const isOwn = piecesOf(name).some((piece) => piece.is !== 'text' && hasMatrix(piece));
  if (combination === 'broken') return { ...expanded, isBroken: true };
  if (!combination || isOwn || expanded.isBroken) return expanded;
  const suffixes: string[] = [];
  for (const [key, value] of combination) {
    const suffix = nameOf(value);
    if (suffix === undefined) {
      const message = `The value of matrix.${key} cannot be a part of the name.`;
      const suggestion = `use \${{ matrix.${key} }}, or a part of it, in "name"`;
      return { ...expanded, faults: [{ message, suggestion }], isBroken: true };
    }
    suffixes.push(suffix);
  }
  const base = expanded.content.kind === 'scalar' ? String(expanded.content.value) : name;
  return {
    ...scalarAt([base, ...suffixes].join('-'), place),
    uses: [
      ...(expanded.uses ?? []),
      ...[...combination].map(([key, { written }]) => ({ name: `matrix.${key}`, written, isWhole: false })),
    ],
  };
}

const hasMatrix = (piece: { is: string; names?: readonly string[] }): boolean =>
  piece.is === 'fault' || piece.names?.[0] === 'matrix';

/** What is wrong with the texts and keys of a value, by places in the file. */
function faultsIn(value: LocatedValue): Fault[] {
  const faults: Fault[] = [];
  for (const one of valuesIn(value)) {
    for (const remark of one.faults ?? []) faults.push([one.place, remark]);
    if (one.content.kind !== 'map') continue;
    for (const [key, inner] of one.content.entries) {
      if (!key.includes('${{') || piecesOf(key).every(({ is }) => is === 'text')) continue;
      faults.push([
        inner.place,
        { at: 'key', message: 'A key cannot hold a placeholder; only a value can.' },
      ]);
    }
  }
  return faults;
}

const isMap = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
