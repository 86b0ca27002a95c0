/**
 * Parses a request's query string and body, and checks them against the contract before a handler gets them.
 */

import { checkInput } from '../../contract/input.ts';
import type { QueryFault } from '../../contract/list.ts';
import { type Operation, pathParameters } from '../../contract/operation.ts';
import { type OperationId, operationOf } from '../../contract/operations.ts';
import { writePath } from '../../schema-issue.ts';
import { readListQuery } from '../list/query.ts';
import { requireTimezone } from '../list/timestamps.ts';
import { malformed, Refusal } from '../refusal.ts';

/** The parts of a request other than its path. */
export interface Sent {
  search: URLSearchParams;
  body: string;
}
export interface CheckedInput {
  query: Record<string, unknown>;
  body: unknown;
}

/**
 * The query and body of a request, checked against the contract. Nothing is silently dropped: what the
 * operation does not take is refused. Exceptions are a body where it takes none (some HTTP clients send `{}`
 * with every POST), and a query where the operation's row has no 400.
 *
 * @throws {Refusal} 400 for a wrong shape; 422 for a body of the right shape with an invalid value.
 */
export function readInput(id: OperationId, params: Record<string, string>, sent: Sent): CheckedInput {
  const operation = operationOf(id);
  const query = readQuery(operation, sent.search);
  const body = operation.body ? readJson(sent.body) : undefined;
  // An invalid id is answered 404, not 400.
  const names = new Set(pathParameters(operation.path));
  const faults = checkInput(id, { ...params, ...query, body }).filter(
    ({ path }) => !names.has(path[0] ?? ''),
  );
  if (faults.length > 0) throw refusalFor(operation, body, faults);
  if (typeof query['timezone'] === 'string') requireTimezone(query['timezone']);
  return { query, body };
}

function refusalFor({ body: schema, errors }: Operation, body: unknown, faults: QueryFault[]): Refusal {
  const message = faults
    .map((fault) => `${writePath(fault.path) || 'the request'} ${fault.message}`)
    .join('; ');
  const issues = schema?.safeParse(body).error?.issues ?? [];
  const isShape = issues.some(({ code }) => code === 'unrecognized_keys' || code === 'invalid_type');
  const isInBodyAlone = faults.every(({ path }) => path[0] === 'body');
  return errors.includes(422) && isInBodyAlone && !isShape
    ? new Refusal(422, 'invalid_value', message)
    : malformed(message);
}

/** An operation whose row has no 400 ignores the query string. */
function readQuery({ list, errors }: Operation, search: URLSearchParams): Record<string, unknown> {
  if (!errors.includes(400)) return {};
  return list ? readListQuery(list, search) : readFlatQuery(search);
}

function readFlatQuery(search: URLSearchParams): Record<string, string> {
  const query: Record<string, string> = Object.create(null) as Record<string, never>;
  for (const [name, value] of search) {
    if (query[name] !== undefined) throw malformed(`"${name}" is given more than once`);
    query[name] = value;
  }
  return query;
}

function readJson(text: string): unknown {
  if (text.trim() === '') return undefined;
  try {
    return JSON.parse(text);
  } catch {
    throw malformed('the body is not JSON');
  }
}
