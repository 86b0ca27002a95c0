/** What the store of targets takes and gives besides targets. */
import { z } from 'zod';
import type { Ending, TargetIn, TargetState } from '../run/run.ts';
/**
 * How many targets a run may hand out, and how many it had handed out and not settled when that was decided.
 */
export interface Allocated {
  run: string;
  count: number;
  acting: number;
}

/** A target handed out: the step proves it. */
export interface Released {
  id: string;
  step: number;
}

/** A target that is ours to work on, and why its run was cancelled, if it was. */
export interface Claimed {
  target: TargetIn<'acting'>;
  ending?: Ending;
}

/** What was looked at while planning and is not part of the plan. */
export const LeftOut = z.object({ id: z.string(), label: z.string(), why: z.string() });
export type LeftOut = z.output<typeof LeftOut>;

/** The states whose members are kept in order of a moment: when they began, or when they are due. */
export type TimedState = Extract<TargetState, 'acting' | 'following' | 'waiting'>;
