/**
 * For tests whose processes live in the machine's own time, because each of them asks a real Redis for it.
 */
import { systemClock } from '../../src/clock.ts';

const HALF_HOUR = 1_800_000;
/** Longer than such a test takes on a busy machine. */
const TAKES_MS = 90_000;

/**
 * Resolves at once, except shortly before a full or a half hour: then when it has struck. So no shipped
 * policy fires in a test that begins after it, no day or month ends there in the zones that it names, and the
 * service counts on within one day.
 */
export async function clearOfTheHour(): Promise<void> {
  const left = HALF_HOUR - (Date.now() % HALF_HOUR);
  if (left < TAKES_MS) await systemClock.sleep(left + 1);
}
