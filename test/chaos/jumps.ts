/** The clock of Redis, by which all processes work, goes forward and back while they work. */
import type { FastClock } from '../support/caretaker.ts';

interface Jump {
  /** In real milliseconds since the clock began. */
  afterMs: number;
  /** How far it is then from what it was at the beginning. */
  byMs: number;
}

const EVERY_MS = 10_000;
const FARTHEST_MS = 10 * 60_000;
/** More than any chaos takes. */
const MANY = 1_000;

/** Some seconds apart: at the right time, ten minutes late or early, and between. */
export function jumpsFrom(random: () => number): Jump[] {
  let afterMs = 0;
  return Array.from({ length: MANY }, () => {
    afterMs += (0.5 + random()) * EVERY_MS;
    return { afterMs, byMs: Math.round((random() * 2 - 1) * FARTHEST_MS) };
  });
}

/** The clock as `clock.mjs` makes it in other processes. */
export function jumping(clock: FastClock, jumps: readonly Jump[]): FastClock {
  const { began } = clock.shared();
  const passedBy = ({ afterMs }: Jump) => afterMs <= Date.now() - began;
  return { ...clock, now: () => clock.now() + (jumps.findLast(passedBy)?.byMs ?? 0) };
}
