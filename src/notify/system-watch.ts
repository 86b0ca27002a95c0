/** What a working process looks at now and then, for those who have it under `events`. */

import type { Dispatcher } from 'undici';
import { type Clock, isoMinute } from '../clock.ts';
import type { Log } from '../log.ts';
import type { Queues } from '../queue/queues.ts';
import type { Records } from '../records/records.ts';
import type { Settings } from '../settings/settings.ts';
import { ping } from './post.ts';

/** How often. Costs three requests to Redis, and one for each queue. */
export const WATCH_INTERVAL_MS = 30_000;
/** When no one has worked for this long, that is reported. Longer than a restart. */
export const SILENT_MS = 5 * 60_000;

/** Records that this process works, and which queues are paused; each change has a notice, once. */
export async function watchSystem(deps: {
  records: Pick<Records, 'alerts'>;
  queues: Pick<Queues, 'paused'>;
  clock: Pick<Clock, 'now'>;
}): Promise<void> {
  const { records, queues, clock } = deps;
  const at = clock.now();
  await records.alerts.noteAlive(at, SILENT_MS, (since) => ({
    type: 'system',
    event: 'nobody-running',
    at,
    detail: `No daemon was recorded as working from ${isoMinute(since)} to ${isoMinute(at)}. Scheduled runs are caught up as their policies allow.`,
  }));
  const paused = await queues.paused();
  for (const name of paused) {
    const detail = `The queue "${name}" is paused, so its work waits. caretaker queues resume resumes it.`;
    await records.alerts.raise(`queue ${name}`, { type: 'system', event: 'queue-paused', at, detail });
  }
  for (const alert of await records.alerts.names('queue '))
    if (!paused.includes(alert.slice('queue '.length))) await records.alerts.clear(alert, at);
}

// Heartbeats: addresses that are requested while a worker runs, does its work and reaches Redis. A service that watches
// them notices when none does. In each interval one process sends each of them.

/** A process whose request was not accepted leaves the next one to the others, if they take it within so long. */
const YIELD_MS = 3_000;

export class Heartbeats {
  /** When each was sent last, as far as this process knows. Redis is asked when it may be due again. */
  private readonly lastAt = new Map<string, number>();
  /** Those that did not answer the last time, so that each failure is logged once. */
  private readonly silent = new Set<string>();

  constructor(
    private readonly deps: {
      records: Pick<Records, 'heartbeats'>;
      settings: Pick<Settings, 'notifications'>;
      clock: Pick<Clock, 'now'>;
      log: Log;
      dispatcher: Dispatcher;
    },
  ) {}

  /** Whether there are any. */
  some(): boolean {
    return Object.values(this.deps.settings.notifications).some(({ heartbeat }) => heartbeat !== undefined);
  }

  /** Requests those that are due and that no other process has requested. Does not wait for their answers. */
  async beat(): Promise<void> {
    const { settings, clock, records } = this.deps;
    for (const [name, { heartbeat }] of Object.entries(settings.notifications)) {
      if (!heartbeat) continue;
      const now = clock.now();
      const wait = heartbeat.every + (this.silent.has(name) ? YIELD_MS : 0);
      // Also when the clock went back behind it.
      if (Math.abs(now - (this.lastAt.get(name) ?? Number.NEGATIVE_INFINITY)) < wait) continue;
      const taken = await records.heartbeats.take(name, now, wait);
      this.lastAt.set(name, taken === 'taken' ? now : taken.at);
      if (taken === 'taken') void this.send(name, heartbeat.url);
    }
  }

  private async send(name: string, url: string): Promise<void> {
    const { dispatcher, log } = this.deps;
    if (await ping(url, dispatcher)) this.silent.delete(name);
    else if (!this.silent.has(name)) {
      this.silent.add(name);
      log.warn({ to: name }, `the heartbeat "${name}" was not accepted; it is sent again as usual`);
    }
  }
}
