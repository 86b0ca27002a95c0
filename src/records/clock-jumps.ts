/** That the clock of Redis, by which all processes work, went forward or back: one notice, and a warning for an hour. */
import { isoMinute } from '../clock.ts';
import type { AlertStore } from './alert-store.ts';

const WARNED_MS = 3_600_000;
const PREFIX = 'clock ';

/** Records a jump, as each process does that measures it. */
export async function noteClockJump(
  alerts: AlertStore,
  { at, byMs }: { at: number; byMs: number },
): Promise<void> {
  const [direction, opposite] = byMs > 0 ? ['forward', 'back'] : ['back', 'forward'];
  // Its time may be far ahead of now.
  await alerts.clear(PREFIX + opposite, Number.MAX_SAFE_INTEGER);
  const detail = `The clock of Redis went ${direction}, from about ${isoMinute(at - byMs)} to ${isoMinute(at)}. Check the time service of its machine.`;
  await alerts.raise(PREFIX + direction, { type: 'system', event: 'clock-jumped', at, detail });
}

/** The jumps of the last hour, a sentence each without a full stop. */
export async function clockJumps(alerts: AlertStore, now: number): Promise<string[]> {
  const names = await alerts.names(PREFIX);
  for (const name of names) await alerts.clear(name, now - WARNED_MS);
  return names.map(
    (name) =>
      `the clock of Redis went ${name.slice(PREFIX.length)} in the last hour: scheduled times may have been early, late or missed; check the time service of its machine`,
  );
}
