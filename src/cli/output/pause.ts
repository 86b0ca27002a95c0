/** Formats pauses and freezes. */
import { isoMinute } from '../../clock.ts';
import { type Freeze, formatFreeze } from '../../records/freeze-store.ts';
import type { Pause } from '../../records/policy-store.ts';
import type { Terminal } from './terminal.ts';

/**
 * Formats a pause: `paused by anna since 2026-11-21 13:50Z until 2026-12-01 00:00Z (moving house)`.
 */
export function formatPause({ by, at, until, reason }: Pause): string {
  const end = until === undefined ? '' : ` until ${isoMinute(until)}`;
  return `paused by ${by} since ${isoMinute(at)}${end}${reason === undefined ? '' : ` (${reason})`}`;
}

/** Prints the freeze, if there is one, because it explains why no run starts. */
export function printFreeze(freeze: Freeze | undefined, { paint, message }: Terminal): void {
  if (!freeze) return;
  message(
    `${paint('yellow', 'No run starts')}: everything is ${formatFreeze(freeze)}. "caretaker unfreeze" ends the freeze.`,
  );
}
