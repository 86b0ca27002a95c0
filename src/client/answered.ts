/** What is reported of a request and its answer (`CallOptions.onAnswer`). */
import type { WindowReport } from '../budget/ticket.ts';
import { meaningOf, type Problem } from '../contract/answers.ts';
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

// Reads the rate headers of an answer (spec 8). Their presence also shows that the answer comes from the
// service.

/** No window of a minute has more seconds left. A larger value is a timestamp, or invalid. */
const MAX_RESET_SECONDS = 3_600;

const rateHeaders = ['x-ratelimit-limit', 'x-ratelimit-remaining', 'x-ratelimit-reset'] as const;
/** Only the service sends these headers, so an answer that has them comes from the service. */
export const hasRateHeaders = ({ header }: Reply): boolean =>
  rateHeaders.some((name) => header(name) !== undefined);

/**
 * The report of a reply about the window. `X-RateLimit-Reset` is the number of seconds left, not a timestamp.
 * `leadsNowhere`: the reply is a redirect that is not followed.
 */
export function windowReportOf(reply: Reply, leadsNowhere: boolean): WindowReport {
  const { status } = reply;
  const isUseless = status >= 500 || (leadsNowhere && meaningOf(status) === 'redirected');
  const [limit, remaining, reset] = rateHeaders.map((name) => countIn(reply.values(name)));
  const resetSeconds = reset ?? (status === 429 ? retryAfter(reply) : undefined);
  return {
    kind: status === 429 ? 'limited' : isUseless ? 'failed' : 'answered',
    ...(limit === undefined ? {} : { limit: Math.floor(limit) }),
    ...(remaining === undefined ? {} : { remaining: Math.floor(remaining) }),
    ...(resetSeconds === undefined || resetSeconds > MAX_RESET_SECONDS
      ? {}
      : { resetMs: Math.ceil(resetSeconds) * 1000 }),
  };
}

/** The number in a header. Undefined when several values differ, as when a proxy adds its own. */
function countIn(values: readonly string[]): number | undefined {
  const numbers = new Set(values.map((value) => /^\s*(\d+(?:\.\d+)?)\s*(?:;.*)?$/.exec(value)?.[1]));
  const [number] = numbers;
  return numbers.size === 1 && number !== undefined ? Number(number) : undefined;
}

/**
 * The wait in `Retry-After`, in seconds. The header has seconds, or a timestamp by the same clock as `Date`.
 */
function retryAfter({ header }: Reply): number | undefined {
  const value = header('retry-after') ?? '';
  if (/^\d+$/.test(value)) return Number(value);
  const seconds = (Date.parse(value) - Date.parse(header('date') ?? '')) / 1000;
  return seconds >= 0 ? seconds : undefined;
}
