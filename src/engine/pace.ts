/** How often followed work is looked at. Pure, so that what it costs and how late it may be can be tested. */

const SHORTEST_MS = 1_000;
const LONGEST_MS = 20_000;

/**
 * How long to wait until the next sweep.
 *
 * When it is known how long such work usually takes, a sixth of that: ends are seen a twelfth late on average. While
 * nothing is known, a quarter of what the oldest has taken so far. Never more than `LONGEST_MS`, never past a deadline
 * by more than that.
 */
export function nextSweepAfterMs(usualMs: number | undefined, oldestAgeMs: number): number {
  const wish = usualMs === undefined ? oldestAgeMs / 4 : usualMs / 6;
  return Math.min(Math.max(wish, SHORTEST_MS), LONGEST_MS);
}

/**
 * Whether work deserves a look of its own: what the list left unclear soon, what the list never showed when it has
 * taken more than twice as long as usual, and neither more often than every `usual` time.
 */
export function deservesLook(
  { ageMs, lookedAgoMs, unclear }: { ageMs: number; lookedAgoMs: number; unclear: boolean },
  usualMs: number | undefined,
): boolean {
  const usual = usualMs ?? 60_000;
  const pause = Math.max(usual, 20_000);
  if (lookedAgoMs < pause) return false;
  return unclear ? ageMs > 5_000 : ageMs > Math.max(2 * usual, 60_000);
}
