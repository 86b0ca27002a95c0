/** The figures of `docs/jobs/update-rings.md`, which are of twenty months. */
import { expect, test } from 'vitest';
import { months } from './month.ts';

// It waits for nothing: it computes for a minute, and on a busy machine for several.
test('over ten simulated months, rings hold what they promise', { timeout: 600_000 }, () => {
  const [ringed, atOnce] = [months(10, true), months(10, false)];
  expect(ringed.broken).toBeLessThan(atOnce.broken / 7);
  // The threshold lets a good version be quarantined with a probability of 0.5%.
  expect(ringed.wronglyQuarantined / ringed.good).toBeLessThanOrEqual(0.005);
  expect(ringed.slowDays).toBeLessThan(14);
  expect(ringed.reached / ringed.good).toBeGreaterThan(0.9);
});
