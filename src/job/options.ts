/** What the options of jobs are made of besides what zod has: they are written as everything else in our files. */
import * as written from '../settings/duration.ts';
import * as shares from '../settings/percent.ts';

/** A length of time such as `20h` or `3d`, read into milliseconds; `leastMs` is the shortest that makes sense. */
export const duration = written.duration;

/** Milliseconds as a person would have written them in a policy: `3d`. */
export const inWords = written.formatDuration;

/** A share such as `20%`, read into percentage points between `least` and `most`. */
export const percent = shares.percent;
