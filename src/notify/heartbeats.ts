/**
 * Heartbeats: addresses that are requested while a worker runs and reaches Redis. A service that watches them notices when
 * none does.
 */
import type { Dispatcher } from 'undici';
import type { Clock } from '../clock.ts';
import type { Log } from '../log.ts';
import type { Settings } from '../settings/settings.ts';
import { ping } from './post.ts';

export class Heartbeats {
  private readonly lastAt = new Map<string, number>();
  /** Those that did not answer the last time, so that each failure is logged once. */
  private readonly silent = new Set<string>();

  constructor(
    private readonly deps: {
      settings: Pick<Settings, 'notifications'>;
      clock: Pick<Clock, 'now'>;
      log: Log;
      dispatcher: Dispatcher;
    },
  ) {}

  /** Requests those that are due, and does not wait for their answers. */
  beat(): void {
    const { settings, clock, dispatcher, log } = this.deps;
    for (const [name, { heartbeat }] of Object.entries(settings.notifications)) {
      const now = clock.now();
      if (!heartbeat || now < (this.lastAt.get(name) ?? Number.NEGATIVE_INFINITY) + heartbeat.every) continue;
      this.lastAt.set(name, now);
      void ping(heartbeat.url, dispatcher).then((answered) => {
        if (answered) this.silent.delete(name);
        else if (!this.silent.has(name)) {
          this.silent.add(name);
          log.warn({ to: name }, `the heartbeat "${name}" was not accepted; it is sent again as usual`);
        }
      });
    }
  }
}
