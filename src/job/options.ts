/**
 * Schemas for job options, in addition to those of zod. They have the same form as elsewhere in Caretaker's files.
 */
import * as written from '../yaml/duration.ts';
import * as shares from '../yaml/percent.ts';
import type { OptionFault } from './job.ts';

/** A duration such as `20h` or `3d`, parsed into milliseconds; `leastMs` is the minimum. */
export const duration = written.duration;

/** Formats milliseconds as in a policy: `3d`. */
export const formatDuration = written.formatDuration;

/** A percentage such as `20%`, parsed into percentage points between `least` and `most`. */
export const percent = shares.percent;

/** Reports a waiting time of a job that is not shorter than the policy's time limit for a target. */
export const notWithin = (name: string, ms: number, targetMs: number): OptionFault[] =>
  ms >= targetMs
    ? [
        {
          path: [name],
          message: `"${name}" is ${formatDuration(ms)}, and "timeout.target" ends the work on a target after ${formatDuration(targetMs)}.`,
          suggestion: 'make it shorter than timeout.target, or increase timeout.target',
        },
      ]
    : [];
