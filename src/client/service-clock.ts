/**
 * How far the service's clock is ahead of ours, measured by the times in its own answers.
 *
 * Clocks of two machines may be minutes apart, so a timestamp of the service is compared with a time of ours
 * only after that was translated. Each answer narrows the bounds: it was made between the moments at which
 * its request left and its headers arrived.
 */
import type { TimeBounds } from '../clock.ts';

/** When an answer can have been made, by our clock, in milliseconds since 1970. */
export interface Exchanged {
  sentAt: number;
  receivedAt: number;
}

/** Two clocks drift apart by no more than this share of the time that passes (100 ppm). */
const DRIFT = 1e-4;
/**
 * The machines of one service do not agree to the millisecond, and what made an answer is not what stored the
 * item.
 */
const MARGIN_MS = 1_000;
/** What is assumed of a service that shows no time at all: no comparison within a day is certain. */
const UNKNOWN_MS = 86_400_000;

/** Bounds of the offset by one kind of evidence, and when they were last narrowed. */
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
   * Learns from the `Date` header of an answer, which has whole seconds. An answer of a cache (`Age`) is not
   * from now.
   */
  learnDate(date: string | undefined, age: string | undefined, exchanged: Exchanged): void {
    const second = Date.parse(date ?? '');
    if (Number.isNaN(second) || Number(age ?? 0) > 0) return;
    this.byDate = narrowed(this.byDate, { earliest: second, latest: second + 999 }, exchanged);
  }

  /** Learns from when the service says it made something that was just asked for. */
  learnCreation(created: TimeBounds | undefined, exchanged: Exchanged): void {
    if (created) this.byCreation = narrowed(this.byCreation, created, exchanged);
  }

  /**
   * When it was `at` (our clock), by the service's clock. Where `Date` and creation times disagree, both are
   * allowed for.
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

/** The bounds that old and new evidence leave; only the new one's when one of the clocks was set since. */
function narrowed(
  old: Offset | undefined,
  { earliest, latest }: TimeBounds,
  { sentAt, receivedAt }: Exchanged,
): Offset {
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
