/**
 * The ids in a request that refer to something else in the account: a tag, a client, a report template, ...
 * Where a policy file may have `{ name: Premium }` in place of such an id is decided here alone.
 */

import { z } from 'zod';
import { isHolder } from '../schema-issue.ts';
import { hasNames, type Kind, kinds, type NamedKind } from './kinds.ts';
import { isOperator, type List } from './list.ts';
import { pathParameters } from './operation.ts';
import { type OperationId, operationOf } from './operations.ts';
import { bare, kindOfId, schemaUnder } from './schema.ts';

type Path = readonly (string | number)[];

/** A name in place of an id, and its path in the value that has it. */
export interface NamedReference {
  path: (string | number)[];
  kind: NamedKind;
  name: string;
}

/** An id, and its path in the value that has it. */
export interface IdReference {
  path: (string | number)[];
  kind: Kind;
  id: string;
}

/** A name where none is possible, and why. */
export interface WrongName {
  path: (string | number)[];
  message: string;
}

export interface FoundNames {
  names: NamedReference[];
  ids: IdReference[];
  wrong: WrongName[];
}

const parameterKinds = new Map<string, Kind>(
  Object.entries(kinds).map(([kind, { parameter }]) => [parameter, kind as Kind]),
);

/** What a path parameter is the id of, if policies can refer to it. */
export const kindOfParameter = (name: string): Kind | undefined => parameterKinds.get(name);

/** Every name in the input of an operation: path parameters by their names, and `body`. */
export function namesInInput(id: OperationId, input: Readonly<Record<string, unknown>>): FoundNames {
  const { path, body } = operationOf(id);
  const found: FoundNames = { names: [], ids: [], wrong: [] };
  for (const name of pathParameters(path)) addName(found, input[name], [name], kindOfParameter(name));
  if (body) collect(found, input['body'], ['body'], body);
  return found;
}

/** Every name in the filters of a list: `{ tags: { in: [{ name: Premium }] } }`. Paths start at a field. */
export function namesInFilters(
  { filters: known }: Pick<List, 'filters'>,
  filters: Readonly<Record<string, Readonly<Record<string, unknown>>>>,
): FoundNames {
  const found: FoundNames = { names: [], ids: [], wrong: [] };
  for (const [field, conditions] of Object.entries(filters)) {
    // An unknown field is reported as such.
    if (!Object.hasOwn(known, field)) continue;
    const kind = known[field]?.idOf;
    for (const [operator, value] of Object.entries(conditions)) {
      const values = Array.isArray(value) ? [...value.entries()] : [];
      for (const [index, one] of values) addName(found, one, [field, operator, index], kind);
      addName(found, value, [field, operator], kind);
    }
  }
  return found;
}

/** The name in `{ name: Premium }`. */
export function nameIn(value: unknown): string | undefined {
  if (!isHolder(value) || Array.isArray(value) || Object.keys(value).length !== 1) return undefined;
  const { name } = value as { name?: unknown };
  return typeof name === 'string' && name !== '' ? name : undefined;
}

function collect(
  found: FoundNames,
  value: unknown,
  path: (string | number)[],
  schema: z.core.$ZodType,
): void {
  const kind = kindOfId(schema);
  // Elsewhere, a map with a name is what the service takes: `tag: { name: Premium }` of createTag.
  if (kind !== undefined || bare(schema) instanceof z.ZodString) {
    addName(found, value, path, kind);
    return;
  }
  if (!isHolder(value)) return;
  for (const [key, inner] of Object.entries(value)) {
    const under = schemaUnder(schema, key);
    if (under) collect(found, inner, [...path, Array.isArray(value) ? Number(key) : key], under);
  }
}

function addName(found: FoundNames, value: unknown, path: (string | number)[], kind: Kind | undefined): void {
  const name = nameIn(value);
  const isId = typeof value === 'string' || typeof value === 'number';
  if (kind !== undefined && isId && value !== '') found.ids.push({ path, kind, id: String(value) });
  if (name === undefined) return;
  if (kind !== undefined && hasNames(kind)) found.names.push({ path, kind, name });
  else found.wrong.push({ path, message: whyNone(path, kind) });
}

const nouns = Object.values(kinds)
  .filter((kind) => 'names' in kind)
  .map(({ noun }) => noun);

function whyNone(path: Path, kind: Kind | undefined): string {
  // Below the name of a filter are its operator and an index.
  const field = String(path.findLast((key) => typeof key === 'string' && !isOperator(key)));
  const allowed = `A name can replace the id of a ${nouns.slice(0, -1).join(', ')} or ${nouns.at(-1)}.`;
  return kind === undefined
    ? `"${field}" takes no name, because it is not an id. ${allowed}`
    : `"${field}" is the id of a ${kinds[kind].noun}, and takes no name. ${allowed}`;
}

/** The value with these names replaced by ids: a copy. Names that have no id stay. */
export function withIds<T>(value: T, ids: readonly { path: Path; id: string }[]): T {
  if (ids.length === 0) return value;
  const copy = structuredClone(value);
  for (const { path, id } of ids) setAt(copy, path, id);
  return copy;
}

function setAt(holder: unknown, path: Path, value: unknown): void {
  const inner = path
    .slice(0, -1)
    .reduce<unknown>((at, key) => (isHolder(at) ? Reflect.get(at, key) : undefined), holder);
  const last = path.at(-1);
  if (isHolder(inner) && last !== undefined) Reflect.set(inner, last, value);
}
