/**
 * The budget of an account as JSON: the object of `budget --json` and of `GET /api/v1/budget`. With what was spent in the
 * last hour, by class and by policy.
 */
import { z } from 'zod';
import type { BudgetBucket } from '../budget/history.ts';
import { requestClasses } from '../budget/ticket.ts';
import type { BudgetUsage } from '../budget/usage.ts';
import { formatSpan, isoTime } from '../clock.ts';
import type { Forecast } from './forecast.ts';

const counts = z.record(z.string(), z.number());
const count = z.number();

const ForecastReport = z.object({
  requests: count,
  capacity: count,
  policies: z.array(
    z.object({
      policy: z.string(),
      firings: count,
      requests_a_run: count.nullable(),
      known_from: z.enum(['past runs', 'estimate', 'nothing']),
      takes_seconds: count.nullable().describe('Null: its runs do not end.'),
      warning: z.string().nullable().describe('Why the budget is too small for it.'),
    }),
  ),
});
export type ForecastReport = z.output<typeof ForecastReport>;

export const BudgetReport = z.object({
  account: z.string(),
  limit: count.describe('Requests of a window.'),
  reserved: count.describe('Those of them that Caretaker never spends.'),
  window: z
    .object({
      left: count,
      resets_at: z.iso.datetime(),
      by_class: counts,
      by_process: counts,
      other_clients: count,
    })
    .nullable()
    .describe('The window in progress; null when no request was sent in it.'),
  other_clients_per_minute: count.nullable(),
  unasked: z.string().nullable().describe('Why the service could not be asked for the window.'),
  last_hour: z.object({
    requests: count,
    by_class: counts,
    by_policy: z.array(
      z.object({ policy: z.string().nullable().describe('Null: of no single policy.'), requests: count }),
    ),
    other_clients: count.nullable().describe('At least; null when it is not known.'),
    known_minutes: count.describe('In how many of the 60 minutes that is known.'),
  }),
  next_24_hours: ForecastReport,
});
export type BudgetReport = z.output<typeof BudgetReport>;

interface Parts {
  account: string;
  usage: BudgetUsage;
  lastHour: readonly BudgetBucket[];
  next: Forecast;
  unasked?: string | undefined;
}

export function budgetReport({ account, usage, lastHour, next, unasked }: Parts): BudgetReport {
  const { limit, reserved, window, othersPerMinute } = usage;
  return {
    account,
    limit,
    reserved,
    window: window
      ? {
          left: window.remaining,
          resets_at: isoTime(window.resetsAt),
          by_class: window.classes,
          by_process: window.processes,
          other_clients: window.others,
        }
      : null,
    other_clients_per_minute: othersPerMinute ?? null,
    unasked: unasked ?? null,
    last_hour: lastHourOf(lastHour),
    next_24_hours: forecastReport(next),
  };
}

export const forecastReport = ({ requests, capacity, policies }: Forecast): ForecastReport => ({
  requests,
  capacity,
  policies: policies.map(({ policy, firings, requests: each, from, takesMs, warning }) => ({
    policy,
    firings,
    requests_a_run: each ?? null,
    known_from: from,
    takes_seconds: Number.isFinite(takesMs) ? Math.round(takesMs / 1000) : null,
    warning: warning ?? null,
  })),
});

function lastHourOf(buckets: readonly BudgetBucket[]): BudgetReport['last_hour'] {
  const spent = buckets.flatMap((bucket) => bucket.spent);
  const sum = (all: readonly { requests: number }[]) =>
    all.reduce((total, { requests }) => total + requests, 0);
  const policies = [...new Set(spent.map(({ policy }) => policy))];
  const known = buckets.flatMap(({ others }) => (others === undefined ? [] : { requests: others }));
  return {
    requests: sum(spent),
    by_class: Object.fromEntries(
      requestClasses.map((name) => [name, sum(spent.filter((one) => one.class === name))]),
    ),
    by_policy: policies
      .map((policy) => ({
        policy: policy ?? null,
        requests: sum(spent.filter((one) => one.policy === policy)),
      }))
      .sort((a, b) => b.requests - a.requests),
    other_clients: known.length === 0 ? null : sum(known),
    known_minutes: known.length,
  };
}

/** The forecast of a budget in words, the same for `caretaker budget` and the page Budget. */
const NOT_KNOWN = 'not known';

/** `About 26 requests, less than 1% of the 259200 that can be spent. For 1 policy it is not known.` */
export function forecastSentence(
  { requests, capacity, policies }: ForecastReport,
  number: (count: number) => string = String,
): string {
  const unknown = policies.filter((one) => one.requests_a_run === null).length;
  const percent = Math.round((requests / Math.max(1, capacity)) * 100);
  const part = percent === 0 && requests > 0 ? 'less than 1%' : `${percent}%`;
  const need = Math.round(requests);
  return [
    `About ${number(need)} ${need === 1 ? 'request' : 'requests'}, ${part} of the ${number(capacity)} that can be spent.`,
    ...(unknown > 0 ? [`For ${unknown} ${unknown === 1 ? 'policy' : 'policies'} it is not known.`] : []),
  ].join(' ');
}

/** What the columns of one policy say. */
export function forecastCells(
  one: ForecastReport['policies'][number],
  number: (count: number) => string = String,
): Record<'runs' | 'requests' | 'from' | 'duration' | 'fits', string> {
  const { firings, requests_a_run: requests, known_from: from, takes_seconds: takes, warning } = one;
  const known = (text: string) => (requests === null ? NOT_KNOWN : text);
  return {
    runs: number(firings),
    requests: known(number(Math.round(requests ?? 0))),
    from,
    duration: known(takes === null ? 'does not end' : formatSpan(takes * 1000)),
    fits: warning === null ? known('yes') : 'no',
  };
}
