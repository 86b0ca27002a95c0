import { isoMinute } from '../../clock.ts';
import type { Pause } from '../../records/policy-store.ts';

/**
 * A pause in a few words: `paused by anna since 2026-11-21 13:50Z until 2026-12-01 00:00Z (moving house)`.
 */
export function formatPause({ by, at, until, reason }: Pause): string {
  const end = until === undefined ? '' : ` until ${isoMinute(until)}`;
  return `paused by ${by} since ${isoMinute(at)}${end}${reason === undefined ? '' : ` (${reason})`}`;
}
