/** Formats pauses and freezes, and what else lets no run start. */
import { isoEnd, isoMinute } from '../../clock.ts';
import {
  effectOf,
  type Freeze,
  formatFreeze,
  formatFrozen,
  unfreezeCommand,
} from '../../records/freeze-store.ts';
import type { Pause } from '../../records/policy-store.ts';
import type { Terminal } from './terminal.ts';

/**
 * Formats a pause: `paused by anna since 2026-11-21 13:50Z until 2026-12-01 00:00Z (moving house)`.
 */
export function formatPause({ by, at, until, reason }: Pause): string {
  const end = until === undefined ? '' : ` until ${isoEnd(until)}`;
  return `paused by ${by} since ${isoMinute(at)}${end}${reason === undefined ? '' : ` (${reason})`}`;
}

/** Prints that the times shown are only those of the schedules, when no daemon starts anything at them. */
export function printNoScheduler(
  { schedulers, areAny }: { schedulers: number; areAny: boolean },
  { message }: Terminal,
): void {
  if (areAny && schedulers === 0)
    message('No daemon with the role scheduler is running: nothing starts by schedule (caretaker daemon).');
}

/** Prints the active freezes, because they explain why no run starts. */
export function printFreezes(freezes: readonly Freeze[], { paint, message }: Terminal): void {
  for (const freeze of freezes) {
    const effect = effectOf(freeze);
    const begin = paint('yellow', `${effect.charAt(0).toUpperCase()}${effect.slice(1)}`);
    message(
      `${begin}: ${formatFrozen(freeze)} is ${formatFreeze(freeze)}. "${unfreezeCommand(freeze)}" ends the freeze.`,
    );
  }
}
