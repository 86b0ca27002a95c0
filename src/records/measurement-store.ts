/**
 * Durations that processes measure, on their way to the processes that serve metrics.
 *
 * They are published, not stored: the processes that listen add them up. A process collects its own for a second and
 * publishes them as one message. Those that cannot be published are dropped, since they are not worth memory.
 */
import { z } from 'zod';
import { keyPrefixOf, type Store } from '../redis/store.ts';
import type { Channels } from './events.ts';
import { keys } from './keys.ts';
import { parseRecord } from './parse-record.ts';

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

// How many entries each queue had in each minute of the last hour. The first daemon that comes by in a minute notes it.
// It is about the present: not in a backup, and gone when no daemon has run for two hours.

export const DEPTH_MINUTE_MS = 60_000;
export const DEPTH_MINUTES = 60;
const KEPT_MS = 2 * DEPTH_MINUTES * DEPTH_MINUTE_MS;

/** Entries that wait or are active, by queue. */
const Depth = z.record(z.string(), z.number());
export type Depth = z.output<typeof Depth>;

const minuteOf = (at: number): number => Math.floor(at / DEPTH_MINUTE_MS) * DEPTH_MINUTE_MS;

export class DepthStore {
  constructor(private readonly store: Store) {}

  /** Notes the depth that `read` gives, if none is noted in this minute. Removes what is older than an hour. */
  async note(at: number, read: () => Promise<Depth>): Promise<void> {
    const minute = minuteOf(at);
    const noted = await this.store.hkeys(keys.queueDepth);
    if (noted.includes(String(minute))) return;
    const old = noted.filter((one) => Number(one) <= minute - DEPTH_MINUTES * DEPTH_MINUTE_MS);
    const writing = this.store.multi();
    writing.hsetnx(keys.queueDepth, String(minute), JSON.stringify(await read()));
    if (old.length > 0) writing.hdel(keys.queueDepth, ...old);
    writing.pexpire(keys.queueDepth, KEPT_MS);
    await writing.exec();
  }

  /** Each minute of the last hour, oldest first; without a depth where no daemon noted one. */
  async lastHour(now: number): Promise<{ at: number; depth?: Depth }[]> {
    const noted = await this.store.hgetall(keys.queueDepth);
    return Array.from({ length: DEPTH_MINUTES }, (_, index) => {
      const at = minuteOf(now) - (DEPTH_MINUTES - 1 - index) * DEPTH_MINUTE_MS;
      const json = noted[String(at)];
      return json === undefined ? { at } : { at, depth: parseRecord(Depth, json, keys.queueDepth) };
    });
  }
}
