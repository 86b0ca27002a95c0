/**
 * Reads the rate headers of an answer (spec 8). Their presence also shows that the answer comes from the
 * service.
 */
import type { WindowReport } from '../budget/ticket.ts';
import { meaningOf } from '../contract/answers.ts';
import type { Reply } from './http.ts';

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
