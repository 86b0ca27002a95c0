/** How this process is: shown with its presence, so that the page System has it for every process. */
import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { Vitals } from '../records/presence-store.ts';
import { version } from './version.ts';

/** Its timer costs little at this interval; shorter delays are of no interest. */
const RESOLUTION_MS = 100;

export interface VitalsMeter {
  /** Since the last call: how late timers were at most, and what 99 of 100 were below. */
  read(): Vitals;
  close(): void;
}

export function openVitals(): VitalsMeter {
  const delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  delay.enable();
  const lagMs = (nanoseconds: number): number =>
    Number.isFinite(nanoseconds) ? Math.max(0, Math.round(nanoseconds / 1e6) - RESOLUTION_MS) : 0;
  return {
    read() {
      const { rss, heapUsed } = process.memoryUsage();
      const vitals = {
        version,
        node: process.versions.node,
        memoryBytes: rss,
        heapBytes: heapUsed,
        lagMs: lagMs(delay.percentile(99)),
        maxLagMs: lagMs(delay.max),
      };
      delay.reset();
      return vitals;
    },
    close: () => delay.disable(),
  };
}
