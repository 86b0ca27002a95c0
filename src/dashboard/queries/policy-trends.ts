/** Whether a policy gets worse: its last runs compared with those before them. */
import type { Policy } from '../../policy/policy.ts';
import { isFinal, shownCounts } from '../../run/moves.ts';
import type { Run } from '../../run/run.ts';

/** How many runs are compared, with at most this many before them; fewer than `min` before them say nothing. */
export const COMPARED = { recent: 5, before: 20, min: 10 } as const;
/** A smaller change says nothing, even if few of the earlier runs had such a value. */
const MIN_CHANGE = 0.2;

export interface Comparison {
  /** The median of the last runs, and of those before them. */
  recent: number;
  before: number;
  /** How many runs are before them. */
  runs: number;
  /** `same`: three of four earlier runs were beyond it, or it changed by less than a fifth. */
  is: 'higher' | 'lower' | 'same';
}

export interface Trends {
  /** How many scheduled runs can be compared. */
  runs: number;
  /** Undefined while there are too few runs to compare. */
  durationMs?: Comparison;
  targets?: Comparison;
  /** Of the targets, in percent; runs without targets do not count. */
  failedPercent?: Comparison;
  requests?: Comparison;
}

/** Runs that did work: they ended, and were neither skipped nor cancelled. */
export const didWork = ({ status }: Run): boolean =>
  isFinal(status) && status !== 'skipped' && status !== 'cancelled';

export const durationOf = ({ startedAt, finishedAt }: Run): number | undefined =>
  startedAt === undefined || finishedAt === undefined ? undefined : finishedAt - startedAt;

/**
 * Compares runs, newest first. Of a policy with a schedule only scheduled ones: others may have been for a few
 * targets. Of other policies all but retries.
 */
export function trendsOf({ schedule }: Pick<Policy, 'schedule'>, runs: readonly Run[]): Trends {
  const isWhole = ({ trigger }: Run) =>
    schedule ? ['schedule', 'catch-up', 'after'].includes(trigger) : trigger !== 'retry';
  const whole = runs.filter((run) => didWork(run) && isWhole(run));
  const compared = (of: (run: Run) => number | undefined) => compare(whole.flatMap((run) => of(run) ?? []));
  return {
    runs: whole.length,
    ...definedOnly({
      durationMs: compared(durationOf),
      targets: compared(({ counts }) => counts.planned),
      failedPercent: compared(({ counts }) =>
        counts.planned === 0 ? undefined : (shownCounts(counts).failed / counts.planned) * 100,
      ),
      requests: compared(({ requests }) => requests),
    }),
  };
}

/** Compares values, newest first; undefined when there are too few. */
export function compare(values: readonly number[]): Comparison | undefined {
  const last = values.slice(0, COMPARED.recent);
  const earlier = values.slice(COMPARED.recent, COMPARED.recent + COMPARED.before);
  if (last.length < COMPARED.recent || earlier.length < COMPARED.min) return undefined;
  const recent = quantile(last, 0.5);
  const before = quantile(earlier, 0.5);
  const isChanged = Math.abs(recent - before) >= Math.max(before * MIN_CHANGE, Number.MIN_VALUE);
  const isHigher = isChanged && recent > before && recent >= quantile(earlier, 0.75);
  const isLower = isChanged && recent < before && recent <= quantile(earlier, 0.25);
  return { recent, before, runs: earlier.length, is: isHigher ? 'higher' : isLower ? 'lower' : 'same' };
}

/** Between two values, the mean of both. */
function quantile(values: readonly number[], part: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  const at = (sorted.length - 1) * part;
  return ((sorted[Math.floor(at)] ?? 0) + (sorted[Math.ceil(at)] ?? 0)) / 2;
}

const definedOnly = <T extends object>(fields: T): { [K in keyof T]?: NonNullable<T[K]> } =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]?: NonNullable<T[K]>;
  };
