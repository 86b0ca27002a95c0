/**
 * What one process grants while Redis is unavailable, given the number of processes that share the account.
 */
import { expect, test } from 'vitest';
import { LocalFallback } from '../../src/budget/budget.ts';
import { heldClock } from '../support/held-clock.ts';

const MINUTE = 60_000;

test.each([
  [1, 90],
  [2, 45],
  [0, 90],
])('of 100 requests per minute with 10 reserved, each of %i processes grants %i', async (processes, part) => {
  const clock = heldClock();
  const fallback = new LocalFallback(clock, { requestsPerMinute: 100, reserve: 0.1 });
  fallback.processes = processes;
  const granted = () => {
    let count = 0;
    while (fallback.take().waitMs === 0) count += 1;
    return count;
  };

  expect(granted()).toBe(part);
  expect(fallback.take().waitMs).toBe(MINUTE);
  await clock.advance(MINUTE);
  expect(granted()).toBe(part);
});
