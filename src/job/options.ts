/**
 * What the options of jobs are made of besides what zod has: they are written as everything else in our
 * files.
 */
import * as written from '../yaml/duration.ts';
import * as shares from '../yaml/percent.ts';
import type { OptionFault } from './job.ts';

/**
 * A length of time such as `20h` or `3d`, read into milliseconds; `leastMs` is the shortest that makes sense.
 */
export const duration = written.duration;

/** Milliseconds as a person would have written them in a policy: `3d`. */
export const formatDuration = written.formatDuration;

/** A share such as `20%`, read into percentage points between `least` and `most`. */
export const percent = shares.percent;

/** What is wrong with a time for which a job waits, when the policy's limit for a target is over before. */
export const notWithin = (name: string, ms: number, targetMs: number): OptionFault[] =>
  ms >= targetMs
    ? [
        {
          path: [name],
          message: `"${name}" is ${formatDuration(ms)}, and "timeout.target" ends the work on a target after ${formatDuration(targetMs)}.`,
          suggestion: 'make it shorter than timeout.target, or that one longer',
        },
      ]
    : [];
