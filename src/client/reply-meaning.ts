/** Whether a reply comes from the service, and the error for a refusal. */
import { ContractError, meaningOf, type Problem, problemOf } from '../contract/answers.ts';
import { pathParameters } from '../contract/operation.ts';
import { type OperationId, operationOf } from '../contract/operations.ts';
import { parsedJson } from '../text.ts';
import { ConflictError, GoneError, RejectedError, UnavailableError, UnreadableError } from './errors.ts';
import { isPage, type Reply } from './http.ts';
import { hasRateHeaders } from './rate-headers.ts';

/** Whether an answer is a web page from a proxy or another server. */
export const isForeignPage = (reply: Reply, text: string): boolean =>
  isPage(reply) && !hasRateHeaders(reply) && parsedJson(text) === undefined;

/** Whether a status is about the request itself. The others may come from a proxy in front of the service. */
export const isDefinite = (status: number): boolean => ['rejected', 'gone'].includes(meaningOf(status));

/**
 * Whether a 404 cannot be about the requested item: a path without an id always exists in the service. A
 * change may still be answered 404 because of an item that its body names.
 */
export const isWrongPath = (id: OperationId, reply: Reply): boolean => {
  const { path, effect } = operationOf(id);
  if (meaningOf(reply.status) !== 'gone' || pathParameters(path).length > 0) return false;
  return effect === undefined || !hasRateHeaders(reply);
};

/** What an error body says; undefined when it says nothing. */
export function problemInBody(text: string): Problem | undefined {
  const problem = problemOf(parsedJson(text) ?? text);
  return problem.message === '' && problem.code === undefined ? undefined : problem;
}

/** The error for a reply that is not a success, given its body. */
export function errorOf(id: OperationId, status: number, text: string): Error {
  const said = problemOf(parsedJson(text) ?? text);
  const problem = { ...said, message: said.message || 'it gave no reason' };
  const meaning = meaningOf(status);
  if (meaning === 'rejected') return new RejectedError(id, status, problem);
  if (meaning === 'conflict') return new ConflictError(id, problem);
  if (meaning === 'gone') return new GoneError(id, problem);
  return new UnavailableError(id, true, `HTTP ${status}, ${problem.message.replace(/\.+$/, '')}`, {
    status,
    problem,
  });
}

/**
 * The error for a successful reply that could not be read. If it came from the service, the change was made.
 */
export function unreadable(id: OperationId, reply: Reply, error: unknown): unknown {
  const isUnusable = error instanceof UnavailableError || error instanceof ContractError;
  const isMade = operationOf(id).effect !== undefined && hasRateHeaders(reply);
  return isUnusable && isMade ? new UnreadableError(id, reply.status, error) : error;
}
