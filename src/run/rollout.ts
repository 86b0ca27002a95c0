/**
 * The batches of a run (`rollout`) and the approvals that it waited for (`approval`): data and decisions about
 * them, without I/O. Times are milliseconds since 1970.
 *
 * Both are fields of the run, and change together with its number of steps (`step`): a process that writes
 * shows the number that it read. So of several processes that want the next change exactly one makes it.
 */
import { z } from 'zod';
import { countOf } from '../text.ts';

const { exactOptional: optional } = z;
const text = z.string();
const number = z.number();

/** What a person did, and why. */
export const By = z.object({
  by: text,
  at: number,
  reason: optional(text),
  /** The act that asked for it, by which a repetition is recognized. */
  act: optional(text),
});
export type By = z.output<typeof By>;

/** What the gate before a batch saw when it was asked last. */
export const Gate = z.object({
  at: number,
  is: z.enum(['open', 'closed']),
  /** Targets that were changed or failed until then; failed ones among them. */
  done: number,
  failed: number,
  /** Those for which `healthy` did not hold, or could not be decided. Missing when it was not asked. */
  unhealthy: optional(number),
  /** One sentence. */
  why: text,
});
export type Gate = z.output<typeof Gate>;

/** One target as a gate saw it. */
export const Seen = z.object({
  id: text,
  label: text,
  is: z.enum(['healthy', 'unhealthy', 'unknown', 'failed']),
  why: optional(text),
});
export type Seen = z.output<typeof Seen>;

export const Batch = z.object({
  /** Which targets it takes: `10%`, `5 targets`, a condition, `the rest`. */
  takes: text,
  targets: number,
  begunAt: optional(number),
  endedAt: optional(number),
  /** What the gate after it saw, and who ended the pause before it or opened it manually. */
  gate: optional(Gate),
  pauseSkipped: optional(By),
  resumed: optional(By),
});
export type Batch = z.output<typeof Batch>;

/**
 * `ready`: the next batch may begin. `checking`: its targets are looked at again before they begin. `running`:
 * targets of the batches that have begun are not done yet. `pausing`: until the end of the pause. `asking`: the gate
 * is asked until it is known whether it is open. `closed`: the run waits for a person until then.
 */
export const Rollout = z.object({
  is: z.enum(['ready', 'checking', 'running', 'pausing', 'asking', 'closed']),
  until: optional(number),
  batches: z.array(Batch),
});
export type Rollout = z.output<typeof Rollout>;

export const Decision = By.extend({
  is: z.enum(['approved', 'rejected', 'expired']),
  /** The last batch that may begin. */
  upTo: optional(number),
  /** Only these targets were approved: how many. */
  targets: optional(number),
});
export type Decision = z.output<typeof Decision>;

/** A wait for the approval of a person. */
export const Approval = z.object({
  /** Of the plan and the first batch that it is about: a decision about another plan does not count. */
  hash: text,
  since: number,
  expires: number,
  /** Why the policy wants it, in one sentence. */
  why: text,
  /** The destructive operations that the run can call. */
  destructive: optional(z.array(text)),
  /** How many requests the run is estimated to send. */
  requests: optional(number),
  /** The batches that wait, from 1. */
  from: number,
  to: number,
  /** Targets that were rejected while it waited. */
  rejected: optional(z.array(By.extend({ targets: number, batch: optional(number) }))),
  decided: optional(Decision),
});
export type Approval = z.output<typeof Approval>;

interface RunWithBatches {
  rollout?: Rollout;
  approvals?: readonly Approval[];
}

/** How many batches have begun. */
export const begunBatches = ({ batches }: Rollout): number =>
  batches.filter(({ begunAt }) => begunAt !== undefined).length;

/** The approval that a run waits for, or that was decided last. */
export const lastApproval = ({ approvals = [] }: RunWithBatches): Approval | undefined => approvals.at(-1);

/** The last batch that was approved; every one for a run that needs no approval. */
export function approvedUpTo(run: RunWithBatches): number {
  const last = lastApproval(run);
  if (!last) return Number.POSITIVE_INFINITY;
  return last.decided?.is === 'approved' ? (last.decided.upTo ?? Number.POSITIVE_INFINITY) : 0;
}

/** `batch 2 of 3 (10%)`. */
export const formatBatch = ({ batches }: Rollout, index: number): string =>
  `batch ${index + 1} of ${batches.length} (${batches[index]?.takes ?? ''})`;

/** What a batch takes, in words. */
export function formatBatchRule(rule: { where: string } | { percent: number } | { count: number }): string {
  if ('where' in rule) return `where ${rule.where}`;
  return 'percent' in rule ? `${rule.percent}%` : countOf(rule.count, 'target');
}

/** The condition of a batch, a number of targets, or a percentage of the plan. */
type Rule = { where: string } | { percent: number } | { count: number };

/**
 * Gives each target its batch, from 0. Called with the targets in the order of the plan: `conditions` are the
 * indexes of the batches whose condition holds for it. What no batch takes belongs to the batch after the last.
 */
export function assignBatches(rules: readonly Rule[], targets: number) {
  const free = rules.map((rule) => {
    if ('where' in rule) return 0;
    return 'percent' in rule ? Math.ceil((targets * rule.percent) / 100) : rule.count;
  });
  return (conditions: readonly number[] = []): number => {
    const found = rules.findIndex((rule, i) =>
      'where' in rule ? conditions.includes(i) : (free[i] ?? 0) > 0,
    );
    if (found < 0) return rules.length;
    free[found] = (free[found] ?? 0) - 1;
    return found;
  };
}

/** The batches with the numbers of their targets, those after the last rule at the end of `sizes`. */
export function batchesOf(rules: readonly Rule[], sizes: readonly number[]): Batch[] {
  const rest = sizes[rules.length] ?? 0;
  const takes = rules.length === 0 ? 'all targets' : 'the rest';
  return [
    ...rules.map((rule, i) => ({ takes: formatBatchRule(rule), targets: sizes[i] ?? 0 })),
    ...(rest > 0 ? [{ takes, targets: rest }] : []),
  ];
}

/** How many failed targets of those that are done keep the gate open at most. */
export const failuresAllowed = (rule: { percent: number } | { count: number }, done: number): number =>
  'count' in rule ? rule.count : (done * rule.percent) / 100;
