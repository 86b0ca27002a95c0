/** Whose answer a reply is, and the error for one that says no. */
import { ContractError, meaningOf, problemOf } from '../contract/answers.ts';
import { pathParameters } from '../contract/operation.ts';
import { type OperationId, operationOf } from '../contract/operations.ts';
import { ConflictError, GoneError, RejectedError, UnavailableError, UnreadableError } from './errors.ts';
import { isPage, type Reply } from './http.ts';
import { hasRateHeaders } from './rate-headers.ts';

/** Whether an answer is a page for people, of something that stands before the service or in its place. */
export const isSomebodyElses = (reply: Reply, text: string): boolean =>
  isPage(reply) && !hasRateHeaders(reply) && parsed(text) === undefined;

/**
 * A status that says something about the request; the others may come from whatever stands before the
 * service.
 */
export const isDefinite = (status: number): boolean => ['rejected', 'gone'].includes(meaningOf(status));

/**
 * Whether a 404 cannot be about what was asked for: a path without an id in it is always there, in the
 * service. A change of something that its body names may still be refused so.
 */
export const isLost = (id: OperationId, reply: Reply): boolean => {
  const { path, effect } = operationOf(id);
  if (meaningOf(reply.status) !== 'gone' || pathParameters(path).length > 0) return false;
  return effect === undefined || !hasRateHeaders(reply);
};

/** The error for a reply that is no success, given its body. */
export function errorOf(id: OperationId, status: number, text: string): Error {
  const said = problemOf(parsed(text) ?? text);
  const problem = { ...said, message: said.message || 'it gave no reason' };
  const meaning = meaningOf(status);
  if (meaning === 'rejected') return new RejectedError(id, status, problem);
  if (meaning === 'conflict') return new ConflictError(id, problem);
  if (meaning === 'gone') return new GoneError(id, problem);
  return new UnavailableError(id, true, `HTTP ${status}, ${problem.message.replace(/\.+$/, '')}`, { status });
}

/** The JSON that a text is; nothing when it is none. */
export function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

/**
 * The error for a good reply that could not be read: where it is the service's, a change was made all the
 * same.
 */
export function unreadable(id: OperationId, reply: Reply, error: unknown): unknown {
  const isUnusable = error instanceof UnavailableError || error instanceof ContractError;
  const isMade = operationOf(id).effect !== undefined && hasRateHeaders(reply);
  return isUnusable && isMade ? new UnreadableError(id, reply.status, error) : error;
}
