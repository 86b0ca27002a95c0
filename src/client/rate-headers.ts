/** What the rate headers of an answer say (spec 8), and that it is the service which answered. */
import type { WindowReport } from '../budget/ticket.ts';
import { meaningOf } from '../contract/answers.ts';
import type { Reply } from './http.ts';

/** No window of a minute has more seconds left: a figure beyond that is a moment, or nonsense. */
const MAX_RESET_SECONDS = 3_600;

const rateHeaders = ['x-ratelimit-limit', 'x-ratelimit-remaining', 'x-ratelimit-reset'] as const;
/** The service alone sends them: whatever else an answer is, with them it is the service's. */
export const hasRateHeaders = ({ header }: Reply): boolean =>
  rateHeaders.some((name) => header(name) !== undefined);

/**
 * What a reply says of the window; `X-RateLimit-Reset` is seconds left, not a moment. `leadsNowhere`: a
 * redirect of it is not followed.
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

/**
 * The one number that a header's values give; nothing where they differ, as when something in between adds
 * its own.
 */
function countIn(values: readonly string[]): number | undefined {
  const numbers = new Set(values.map((value) => /^\s*(\d+(?:\.\d+)?)\s*(?:;.*)?$/.exec(value)?.[1]));
  const [number] = numbers;
  return numbers.size === 1 && number !== undefined ? Number(number) : undefined;
}

/**
 * In how many seconds to come back, as `Retry-After` says: seconds, or a moment by the same clock as `Date`.
 */
function retryAfter({ header }: Reply): number | undefined {
  const value = header('retry-after') ?? '';
  if (/^\d+$/.test(value)) return Number(value);
  const seconds = (Date.parse(value) - Date.parse(header('date') ?? '')) / 1000;
  return seconds >= 0 ? seconds : undefined;
}
