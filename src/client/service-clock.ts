/**
 * The offset of the service's clock, measured from the times in its answers.
 *
 * The clocks of two machines may differ by minutes, so a timestamp of the service is compared with our time
 * only after conversion. Each answer narrows the bounds: it was made between the time at which its request
 * was sent and the time at which its headers arrived.
 */
import type { TimeBounds } from '../clock.ts';

/** The bounds of the time at which an answer was made, by our clock, in milliseconds since 1970. */
export interface Exchanged {
  sentAt: number;
  receivedAt: number;
}

/** The assumed maximum drift between two clocks (100 ppm). */
const DRIFT = 1e-4;
/**
 * The machines of one service do not agree to the millisecond, and the machine that answers is not the one
 * that stores the item.
 */
const MARGIN_MS = 1_000;
/** The uncertainty for a service that shows no time at all: no comparison within a day is certain. */
const UNKNOWN_MS = 86_400_000;

/** The one form in which a server may send a time (RFC 9110): `Sat, 21 Nov 2026 12:00:00 GMT`. */
const HTTP_DATE = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/;

/** Bounds of the offset from one kind of evidence, and when they were last narrowed. */
interface Offset {
  min: number;
  max: number;
  at: number;
}

export class ServiceClock {
  private byDate: Offset | undefined;
  private byCreation: Offset | undefined;

  /** Whether any answer has shown a time. */
  get isMeasured(): boolean {
    return this.byDate !== undefined || this.byCreation !== undefined;
  }

  /**
   * Learns from the `Date` header of an answer, which has whole seconds. An answer without one, with one in another
   * form, or that may be a cached one (`Age`) shows no time.
   */
  learnDate(date: string | undefined, age: string | undefined, exchanged: Exchanged): void {
    // JavaScript reads a time in almost anything: `-1` would be a day in 2001.
    const second = HTTP_DATE.test(date ?? '') ? Date.parse(date ?? '') : Number.NaN;
    if (Number.isNaN(second) || Number(age ?? 0) !== 0) return;
    this.byDate = narrowed(this.byDate, { earliest: second, latest: second + 999 }, exchanged);
  }

  /** Learns from the creation time of an item that was just requested. */
  learnCreation(created: TimeBounds | undefined, exchanged: Exchanged): void {
    if (created) this.byCreation = narrowed(this.byCreation, created, exchanged);
  }

  /**
   * Converts `at` (our clock) to the service's clock. Where `Date` and creation times disagree, the bounds
   * cover both.
   */
  serviceTime(at: number): TimeBounds {
    const known = [this.byDate, this.byCreation].flatMap((offset) => (offset ? [aged(offset, at)] : []));
    if (known.length === 0) return { earliest: at - UNKNOWN_MS, latest: at + UNKNOWN_MS };
    const [min, max] = [Math.max(...known.map((one) => one.min)), Math.min(...known.map((one) => one.max))];
    const agree = min <= max;
    return {
      earliest: at + (agree ? min : Math.min(...known.map((one) => one.min))) - MARGIN_MS,
      latest: at + (agree ? max : Math.max(...known.map((one) => one.max))) + MARGIN_MS,
    };
  }
}

/**
 * The intersection of old and new bounds. If it is empty, one of the clocks was set, and only the new bounds
 * count.
 */
function narrowed(
  old: Offset | undefined,
  { earliest, latest }: TimeBounds,
  { sentAt, receivedAt }: Exchanged,
): Offset | undefined {
  // Our clock went back meanwhile: it is not known when the answer was made.
  if (receivedAt < sentAt) return old;
  const fresh = { min: earliest - receivedAt, max: latest - sentAt, at: receivedAt };
  if (!old) return fresh;
  const { min, max } = aged(old, receivedAt);
  const both = { min: Math.max(min, fresh.min), max: Math.min(max, fresh.max), at: receivedAt };
  return both.min <= both.max ? both : fresh;
}

function aged({ min, max, at }: Offset, now: number): Offset {
  const drift = Math.abs(now - at) * DRIFT;
  return { min: min - drift, max: max + drift, at };
}
