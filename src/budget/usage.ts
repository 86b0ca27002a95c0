/**
 * What the stored fields of a budget (see `scripts.ts`) show: what is left, who uses it, whether the service
 * answers. Pure.
 */

import { MINUTE_MS } from '../dates.ts';
import type { Fields, SharedLimits } from './shared-window.ts';
import { type RequestClass, requestClasses } from './ticket.ts';

/** Who uses the window. */
export interface BudgetUsage {
  limit: number;
  /** How many of them Caretaker never spends. */
  reserved: number;
  /** The window as it was last seen; undefined when it has ended, since there was no request after that. */
  window?: {
    remaining: number;
    resetsAt: number;
    classes: Record<RequestClass, number>;
    /** By process name, the largest first. */
    processes: Record<string, number>;
    /** What other clients of the account have spent in it, at least. */
    others: number;
  };
  /** An estimate of the requests per minute of other clients; undefined without a recent window. */
  othersPerMinute?: number;
}

/** The limit and what is left of it: the whole limit once the window has ended. */
export function countOf(fields: Fields, defaultLimit: number, now: number) {
  const limit = Number(fields['limit'] ?? defaultLimit);
  const resetsAt = Number(fields['resets'] ?? 0);
  return { limit, remaining: now >= resetsAt ? limit : Number(fields['remaining']), resetsAt };
}

/** Since when the service has given no usable answer at this address. */
export function failureOf(
  fields: Fields,
  address: string,
): { failingSince: number; failedAt: number } | undefined {
  if (!fields['failing'] || fields['failing-at'] !== address) return undefined;
  return { failingSince: Number(fields['failing']), failedAt: Number(fields['failed']) };
}

/** How many requests each class was granted in total. */
export const grantedIn = (fields: Fields): Record<RequestClass, number> =>
  byClass(fields, (requestClass) => `granted:${requestClass}`);

/** Whether an answer has shown the window, and it has not ended. */
export const isInProgress = (fields: Fields, now: number): boolean =>
  fields['known'] === '1' && now < Number(fields['resets'] ?? 0);

/**
 * Who uses the window. `granted` is what was granted in it by class and by process, while it is in progress.
 */
export function usageOf(
  fields: Fields,
  granted: Fields | undefined,
  { requestsPerMinute, reserve }: SharedLimits,
  now: number,
): BudgetUsage {
  const { limit, remaining, resetsAt } = countOf(fields, requestsPerMinute, now);
  const others = othersPerMinute(fields, limit, now);
  return {
    limit,
    reserved: Math.round(limit * reserve),
    ...(granted ? { window: { remaining, resetsAt, ...spentIn(fields, limit, granted) } } : {}),
    ...(others === undefined ? {} : { othersPerMinute: others }),
  };
}

/** What was spent in a window: by class, by process, and by other clients. */
function spentIn(fields: Fields, limit: number, granted: Fields) {
  const processes = Object.entries(granted)
    .filter(([field]) => field.startsWith('@'))
    .map(([field, count]) => [field.slice(1), Number(count)] as const)
    .sort(([, a], [, b]) => b - a);
  return {
    classes: byClass(granted, (requestClass) => requestClass),
    processes: Object.fromEntries(processes),
    others: othersIn(fields, limit),
  };
}

function byClass(
  fields: Fields,
  fieldOf: (requestClass: RequestClass) => string,
): Record<RequestClass, number> {
  const counts = requestClasses.map((name) => [name, Number(fields[fieldOf(name)] ?? 0)] as const);
  return Object.fromEntries(counts) as Record<RequestClass, number>;
}

/**
 * What other clients spent in the window in progress, as far as answers showed: everything that is missing
 * and that we did not send. Our requests in flight already count as ours, so this is never too high.
 */
const othersIn = (fields: Fields, limit: number): number =>
  Math.max(0, limit - Number(fields['remaining'] ?? limit) - Number(fields['ours'] ?? 0));

/** A window that ended longer ago shows nothing about the present. */
const RECENT_MS = 5 * MINUTE_MS;

/**
 * How many requests other clients spend per minute: as in the previous window, or as in the one in progress
 * if they have already spent more in it. Undefined when neither was seen recently.
 */
function othersPerMinute(fields: Fields, limit: number, now: number): number | undefined {
  const perMinute = (count: number) =>
    Math.round((count * MINUTE_MS) / Number(fields['full-length'] ?? MINUTE_MS));
  const isRecent = (endedAt: string | undefined) =>
    endedAt !== undefined && now - Number(endedAt) < RECENT_MS;
  const past = isRecent(fields['past-ended']) ? perMinute(Number(fields['past-others'] ?? 0)) : undefined;
  const present =
    fields['known'] === '1' && isRecent(fields['resets']) ? perMinute(othersIn(fields, limit)) : undefined;
  if (past === undefined || present === undefined) return past ?? present;
  return Math.max(past, present);
}
