/**
 * Checks a whole request before it is sent or, in the sandbox, answered, so that no misspelt name gets
 * through.
 */
import { z } from 'zod';
import { isHolder, isOfForm, protoKeysIn, sayIssue } from '../schema-issue.ts';
import { wrongId } from './kinds.ts';
import { checkListQuery, type List, type ListQuery, type QueryFault } from './list.ts';
import { type Operation, pathParameters } from './operation.ts';
import { type OperationId, operationOf } from './operations.ts';
import { kindOfParameter } from './references.ts';
import { bare, schemaUnder } from './schema.ts';

/**
 * Every fault in the input of a call: path parameters, list query or query fields, and `body`, by name.
 *
 * Without faults, the service can refuse the request only for reasons of its own. Values of `undefined` count
 * as missing.
 */
export function checkInput(id: OperationId, input: unknown): QueryFault[] {
  if (!isHolder(input) || Array.isArray(input)) return [{ path: [], message: 'must be an object' }];
  const asked = operationOf(id);
  const given = Object.fromEntries(Object.entries(input).filter(([, value]) => value !== undefined));
  return [
    ...checkNames(asked, given),
    ...checkPath(asked, given),
    ...(asked.list ? checkListQuery(asked.list, given as ListQuery) : []),
    ...(asked.query ? checkFields(asked.query, given) : []),
    ...checkBody(asked, given['body']),
  ];
}

type Given = Readonly<Record<string, unknown>>;

function checkNames(asked: Operation, given: Given): QueryFault[] {
  const allowed = [
    ...pathParameters(asked.path),
    ...(asked.list ? listNames(asked.list) : []),
    ...Object.keys(asked.query?.shape ?? {}),
    ...(asked.body ? ['body'] : []),
  ];
  return Object.keys(given)
    .filter((name) => !allowed.includes(name))
    .map((name) => ({ path: [name], message: 'is not taken here', allowed, form: true }));
}

const listNames = (list: List): string[] => [
  ...(list.paged ? ['page', 'perPage'] : []),
  ...(list.timezone ? ['timezone'] : []),
  ...(list.sorts.length > 0 ? ['sort', 'filters'] : []),
];

function checkPath(asked: Operation, given: Given): QueryFault[] {
  return pathParameters(asked.path).flatMap((name): QueryFault[] => {
    const value = given[name];
    if (value === undefined) return [{ path: [name], message: 'is missing' }];
    if (typeof value !== 'string') return [{ path: [name], message: 'is not a string', form: true }];
    // Dots alone would change the path, even when encoded.
    if (/^[\s.]*$/.test(value)) return [{ path: [name], message: 'is not a valid id', form: true }];
    const wrong = wrongId(kindOfParameter(name), value);
    return wrong ? [{ path: [name], ...wrong, form: true }] : [];
  });
}

/** `checkNames` reports unknown names, because it knows all parameters of an operation. */
function checkFields(query: z.ZodObject, given: Given): QueryFault[] {
  const fields = Object.fromEntries(
    Object.entries(given).filter(([name]) => Object.hasOwn(query.shape, name)),
  );
  return faultsOf(query, fields, []);
}

function checkBody(asked: Operation, body: unknown): QueryFault[] {
  if (!asked.body) return [];
  if (body === undefined)
    return asked.bodyRequired ? [{ path: ['body'], message: 'is missing', form: true }] : [];
  return faultsOf(asked.body, body, ['body']);
}

function faultsOf(schema: z.ZodType, value: unknown, before: string[]): QueryFault[] {
  const reading = schema.safeParse(value);
  const faults = reading.error?.issues.flatMap((issue): QueryFault[] => {
    const path = [...before, ...issue.path.map(String)];
    if (issue.code !== 'unrecognized_keys')
      return [{ path, message: sayIssue(issue, value), form: isOfForm(issue) }];
    const allowed = namesAt(schema, issue.path);
    return issue.keys.map((key) => ({
      path: [...path, key],
      message: 'is not taken here',
      allowed,
      form: true,
    }));
  });
  const dropped = protoKeysIn(value)
    .map((path) => ({ path: [...before, ...path.map(String)], message: 'is not taken here', form: true }))
    .filter(({ path }) => !faults?.some((fault) => fault.path.join('.') === path.join('.')));
  return [...(faults ?? []), ...dropped];
}

/** The fields of `schema` in the object at `path`. */
function namesAt(schema: z.ZodType, path: readonly PropertyKey[]): string[] {
  let at: z.core.$ZodType | undefined = schema;
  for (const key of path) at = at && schemaUnder(at, key);
  const holder = at && bare(at);
  return holder instanceof z.ZodObject ? Object.keys(holder.shape) : [];
}

/** A request by its parameters and its body. What is undefined is not sent. */
export function requestOf(
  operation: OperationId,
  input: object,
): { operation: OperationId; params: Record<string, unknown>; body?: unknown } {
  const { body, ...rest } = input as { body?: unknown };
  const params = Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== undefined));
  return { operation, params, ...(body === undefined ? {} : { body }) };
}
