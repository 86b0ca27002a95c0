/** How this process is: shown with its presence, so that the page System has it for every process, and in its metrics. */
import { type Clock, steadyClock } from '../clock.ts';
import type { Vitals } from '../records/presence-store.ts';
import { version } from './version.ts';

/**
 * The lag of the event loop is how late this timer is. Node's own histogram needs so many wake-ups that it costs more
 * than everything else in a daemon with nothing to do.
 */
const TIMER_MS = 1_000;
/** A minute. */
const KEPT = 60;

export interface VitalsMeter {
  /** The lag is that of the last minute. */
  read(): Vitals;
  close(): void;
}

export function openVitals(clock: Clock = steadyClock): VitalsMeter {
  const closing = new AbortController();
  const lags: number[] = [];
  const measure = async () => {
    while (!closing.signal.aborted) {
      const due = clock.now() + TIMER_MS;
      await clock.sleep(TIMER_MS, closing.signal);
      lags.push(Math.max(0, clock.now() - due));
      if (lags.length > KEPT) lags.shift();
    }
  };
  void measure();
  return {
    read() {
      const { rss, heapUsed } = process.memoryUsage();
      const sorted = lags.toSorted((a, b) => a - b);
      return {
        version,
        node: process.versions.node,
        memoryBytes: rss,
        heapBytes: heapUsed,
        lagMs: sorted[Math.floor(sorted.length * 0.9)] ?? 0,
        maxLagMs: sorted.at(-1) ?? 0,
      };
    },
    close: () => closing.abort(),
  };
}
