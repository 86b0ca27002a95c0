/**
 * Durations that processes measure, on their way to the processes that serve metrics.
 *
 * They are published, not stored: the processes that listen add them up. A process collects its own for a second and
 * publishes them as one message. Those that cannot be published are dropped, since they are not worth memory.
 */
import { z } from 'zod';
import { keyPrefixOf, type Store } from '../redis/store.ts';
import type { Channels } from './channels.ts';
import { keys } from './keys.ts';

/** What is measured, with the names of its labels. Label values come from closed lists, or the listener replaces them. */
export const measured = {
  /** From sending a request to the begin of its answer. */
  request: ['operation', 'result'],
  /** From queueing an entry to its start. */
  queueWait: ['queue'],
  /** From the time at which a policy was due to the creation of its run. */
  scheduleLateness: ['trigger'],
  /** From an event to the time at which its receiver accepted the message. */
  deliveryDelay: ['receiver'],
  /** One attempt at a delivery. */
  deliveryAttempt: ['receiver', 'result'],
} as const satisfies Record<string, readonly string[]>;
export type MeasuredKind = keyof typeof measured;

const Measurement = z.object({ kind: z.string(), labels: z.array(z.string()), seconds: z.number().min(0) });
export type Measurement = z.output<typeof Measurement>;
const Message = z.array(Measurement);

const PUBLISH_INTERVAL_MS = 1_000;
/** A process sends a few hundred requests a second at most. */
const MAX_COLLECTED = 5_000;

export class MeasurementStore {
  private collected: Measurement[] = [];
  private timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly store: Store,
    private readonly channels: Channels,
  ) {}

  /** Notes a duration, to be published within a second. A clock that was set back makes it 0. */
  note(kind: MeasuredKind, labels: readonly string[], ms: number): void {
    if (this.collected.length >= MAX_COLLECTED) return;
    this.collected.push({ kind, labels: [...labels], seconds: Math.max(0, ms) / 1_000 });
    this.timer ??= setTimeout(() => void this.publish(), PUBLISH_INTERVAL_MS).unref();
  }

  /** Publishes what is collected, as before the process ends. Never rejects. */
  async publish(): Promise<void> {
    clearTimeout(this.timer);
    this.timer = undefined;
    const values = this.collected;
    this.collected = [];
    if (values.length === 0 || this.store.status !== 'ready') return;
    // Without Redis they are lost: a metric is no reason to keep anything.
    await this.store
      .publish(keyPrefixOf(this.store) + keys.measurements, JSON.stringify(values))
      .catch(() => 0);
  }

  /** Listens to the measurements of every process. The returned function stops it. */
  listen(listener: (measurement: Measurement) => void): Promise<() => Promise<void>> {
    return this.channels.listen(keys.measurements, (message) => {
      for (const measurement of measurementsIn(message)) listener(measurement);
    });
  }
}

/** None for a message that this release does not know. */
function measurementsIn(message: string): Measurement[] {
  try {
    return Message.safeParse(JSON.parse(message)).data ?? [];
  } catch {
    return [];
  }
}
