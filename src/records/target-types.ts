/** What the store of targets takes and gives in addition to targets. */
import { z } from 'zod';
import type { EndingReason, TargetIn, TargetState } from '../run/run.ts';

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
