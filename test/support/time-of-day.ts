/** For tests whose processes use the machine's own time, because each of them reads a real Redis' time. */
import { systemClock } from '../../src/clock.ts';

const HALF_HOUR = 1_800_000;
/** Longer than such a test takes on a busy machine. */
const TAKES_MS = 60_000;

/**
 * Resolves immediately, except at night shortly before a full or half hour: then after it. So no shipped policy fires
 * in a test that begins after it, no day or month ends then in the zones that it uses, and the service stays
 * within one day.
 */
export async function clearOfTheHour(): Promise<void> {
  const left = HALF_HOUR - (Date.now() % HALF_HOUR);
  if (left < TAKES_MS && matters(new Date(Date.now() + left).getUTCHours()))
    await systemClock.sleep(left + 1);
}

/**
 * The shipped policies fire from 02:00 to 08:00 in Berlin. Days end in Berlin, London, UTC and Tokyo, where another
 * policy of a test fires at 03:00.
 */
const matters = (utcHour: number): boolean =>
  utcHour >= 22 || utcHour <= 7 || utcHour === 15 || utcHour === 18;
