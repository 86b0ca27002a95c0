/** What is counted and listed of the targets of a run. */
import { z } from 'zod';
import { type EndingReason, outcomes, reason, type TargetIn, type TargetState } from '../run/run.ts';
import { checkRecord } from './parse-record.ts';

/** How many targets of a run ended with this outcome for this reason. */
const ReasonCount = z.object({ outcome: z.enum(outcomes), reason, count: z.number() });
export type ReasonCount = z.output<typeof ReasonCount>;

/** The count in a field `<outcome> <reason>` and its value. */
export function toReasonCount([field, count]: [string, string], key: string): ReasonCount {
  const [outcome, reason] = field.split(' ');
  return checkRecord(ReasonCount, { outcome, reason, count: Number(count) }, key);
}

// What the store of targets takes and gives in addition to targets.

/** How many targets a run may dispatch, and how many were acting when that was decided. */
export interface Allocated {
  run: string;
  count: number;
  acting: number;
}

/** A dispatched target: a process that shows its fence may write it. */
export interface Dispatched {
  id: string;
  fence: number;
}

/** A claimed target, and why its run was cancelled, if it was. */
export interface Claimed {
  target: TargetIn<'acting'>;
  ending?: EndingReason;
}

/** A candidate that is not part of the plan. */
export const Excluded = z.object({ id: z.string(), label: z.string(), why: z.string() });
export type Excluded = z.output<typeof Excluded>;

/** The states that are indexed by time: when the target entered the state, or when it is due. */
export type TimedState = Extract<TargetState, 'acting' | 'following' | 'waiting'>;
