/** What the hashes of a budget tell of who uses it. Pure. */
import { type Priority, priorities } from './words.ts';

/** Who uses the window. */
export interface BudgetUsage {
  limit: number;
  /** How many of them are never spent by us. */
  reserved: number;
  /** The window as it was last seen; nothing when it is over, since nobody has asked for anything since then. */
  window?: {
    remaining: number;
    resetsAt: number;
    classes: Record<Priority, number>;
    /** By the names of the processes, those that spent most first. */
    processes: Record<string, number>;
    /** What other consumers of the account have spent in it, at least. */
    others: number;
  };
  /** How many requests other consumers spend a minute, estimated; nothing when nobody has looked lately. */
  othersPerMinute?: number;
}

type Hash = Record<string, string>;

/** What was spent in a window: by class, by process (`@name`), and by others. */
export function spentIn(
  window: Hash,
  limit: number,
  use: Hash,
): Pick<NonNullable<BudgetUsage['window']>, 'classes' | 'processes' | 'others'> {
  const classes = priorities.map((priority) => [priority, Number(use[priority] ?? 0)] as const);
  const processes = Object.entries(use)
    .filter(([field]) => field.startsWith('@'))
    .map(([field, count]) => [field.slice(1), Number(count)] as const)
    .sort(([, a], [, b]) => b - a);
  return {
    classes: Object.fromEntries(classes) as Record<Priority, number>,
    processes: Object.fromEntries(processes),
    others: othersIn(window, limit),
  };
}

/**
 * What others spent in the window under way, as far as our answers showed: all that is gone and that we did not send. A
 * request of ours that is still on its way counts as ours already, so that this is never too much.
 */
const othersIn = (window: Hash, limit: number): number =>
  Math.max(0, limit - Number(window['remaining'] ?? limit) - Number(window['ours'] ?? 0));

const MINUTE_MS = 60_000;
/** What was seen longer ago says nothing of now. */
const LATELY_MS = 5 * MINUTE_MS;

/**
 * How many requests others spend a minute: as in the window before, or as in the one under way when they spent more in
 * it already. Nothing when neither was seen lately.
 */
export function othersPerMinute(window: Hash, limit: number, now: number): number | undefined {
  const scale = (count: number) => Math.round((count * MINUTE_MS) / Number(window['cycle'] ?? MINUTE_MS));
  const lately = (endedAt: string | undefined) => endedAt !== undefined && now - Number(endedAt) < LATELY_MS;
  const past = lately(window['past-ended']) ? scale(Number(window['past-others'] ?? 0)) : undefined;
  const present =
    window['known'] === '1' && lately(window['resets']) ? scale(othersIn(window, limit)) : undefined;
  if (past === undefined || present === undefined) return past ?? present;
  return Math.max(past, present);
}
