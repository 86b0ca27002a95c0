/** Whether a receiver is notified of a problem again; pure. By the convention of Alertmanager's `repeat_interval`. */
import type { Problem } from '../records/problem-store.ts';

/** What is kept of the statuses and reasons that a receiver knows; with more, the oldest count as unknown again. */
const MAX_FACTS = 20;

export interface Occurrence {
  at: number;
  /** What is known of it, such as its status and its reasons. A fact that the receiver does not know is reported. */
  facts: readonly string[];
  /** Whether the receiver wants to know of it at all. */
  isWanted: boolean;
  repeatMs: number;
}

/**
 * The problem after it has occurred again, and whether its receiver is notified: of what is new to it, and otherwise
 * when the last message is `repeatMs` old.
 */
export function afterOccurrence(
  before: Problem | undefined,
  { at, facts, isWanted, repeatMs }: Occurrence,
): { problem: Problem; notifies: boolean } {
  const { count = 0, since = at, told = [], toldAt } = before ?? {};
  const isNew = toldAt === undefined || facts.some((fact) => !told.includes(fact));
  const notifies = isWanted && (isNew || at - toldAt >= repeatMs);
  const problem = { count: count + 1, since, told, ...(toldAt === undefined ? {} : { toldAt }) };
  if (!notifies) return { problem, notifies };
  const known = [...told.filter((fact) => !facts.includes(fact)), ...facts].slice(-MAX_FACTS);
  return { problem: { ...problem, told: known, toldAt: at }, notifies };
}
