/** What is reported of a request and its answer (`CallOptions.onAnswer`). */
import type { Problem } from '../contract/answers.ts';
import type { OperationId } from '../contract/operations.ts';
import { messageOf } from '../errors.ts';
import type { Answered } from './call-options.ts';
import { AccountRefusedError, ConflictError, GoneError, RejectedError, UnavailableError } from './errors.ts';
import type { Reply } from './http.ts';
import type { Exchanged } from './service-clock.ts';

/** Headers in which services show the id of a request. The spec names none. */
const idHeaders = ['x-request-id', 'request-id', 'x-correlation-id'];
const MAX_ID = 64;

/** A request that was answered. `error`: what its answer was turned into, if it is no success. */
export function answered(
  operation: OperationId,
  reply: Pick<Reply, 'status' | 'header'> & { exchanged: Exchanged },
  error?: unknown,
): Answered {
  const { sentAt, receivedAt } = reply.exchanged;
  const id = idHeaders.map((name) => reply.header(name)).find((value) => value !== undefined);
  return {
    operation,
    at: sentAt,
    ms: receivedAt - sentAt,
    status: reply.status,
    ...(id !== undefined && /^[\w.:/+=-]+$/.test(id) ? { requestId: id.slice(0, MAX_ID) } : {}),
    ...(error === undefined ? {} : { problem: problemIn(error) }),
  };
}

/** What the body of an error answer says. Otherwise what is wrong with the answer. */
export function problemIn(error: unknown): Problem {
  const told =
    error instanceof RejectedError ||
    error instanceof ConflictError ||
    error instanceof GoneError ||
    error instanceof AccountRefusedError ||
    error instanceof UnavailableError
      ? error.problem
      : undefined;
  return told ?? { message: messageOf(error) };
}
