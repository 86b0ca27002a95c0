/**
 * The ids of traces and spans. They are derived from what they stand for, so that every process that works on a
 * run, today or tomorrow, adds to the same trace, and a span may name a parent that is sent hours later.
 */
import { createHash } from 'node:crypto';

const digest = (...parts: readonly (string | number)[]): string =>
  createHash('sha256').update(parts.join('\n')).digest('hex');

/**
 * The trace of a run. `installation` tells apart the runs of two installations: they have the same id when both
 * have the same policy.
 */
export const traceIdOf = (installation: string, run: string): string =>
  digest('run', installation, run).slice(0, 32);

/** The span of a run, of a target of it, or of the work of a target that is followed since a time. */
export const spanIdOf = (trace: string, ...what: readonly (string | number)[]): string =>
  digest('span', trace, ...what).slice(0, 16);
