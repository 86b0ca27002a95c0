/** The front of the room: pages for people, JSON and metrics for programs, over one HTTP server. */
import type { Clock } from '../clock.ts';
import { pauseAt } from '../records/policy-store.ts';
import type { Records } from '../records/records.ts';
import { isLoopback } from '../settings/settings.ts';
import { Authenticator } from './auth/authenticator.ts';
import { LoginThrottle } from './auth/login-throttle.ts';
import { Sessions } from './auth/sessions.ts';
import { openEventBus } from './events/event-bus.ts';
import { createApp } from './http/app.ts';
import type { Pausing } from './http/context.ts';
import { DashboardError, listen, urlOf } from './http/listen.ts';
import { createMeters } from './monitoring/meters.ts';
import type { DashboardOptions } from './options.ts';
import { openReader } from './queries/reader.ts';

export interface Dashboard {
  /** `http://127.0.0.1:8480`, without a slash at the end. */
  readonly url: string;
  /** Signs one browser in; set when there is no password. Once used, the next read gives a new one. */
  readonly signInLink?: string;
  /** Stops listening and closes every connection, live streams included. */
  close(): Promise<void>;
}

/**
 * Starts to serve.
 *
 * @throws {DashboardError} when it cannot listen on the address, or the address is not loopback and no password
 * is set.
 */
export async function startDashboard(options: DashboardOptions): Promise<Dashboard> {
  const { host, port, records, queues, clock, log } = options;
  const authenticator = new Authenticator(options.password);
  if (!authenticator.hasPassword && !isLoopback(host)) {
    throw new DashboardError(
      `The dashboard has no password, so it listens on this machine only, and not on ${host}: set dashboard.password (CARETAKER_DASHBOARD_PASSWORD), or dashboard.host to 127.0.0.1.`,
    );
  }
  const closing = new AbortController();
  const server = await listen(host, port);
  const eventBus = await openEventBus(records).catch(async (error) => {
    await server.close();
    throw error;
  });
  const url = urlOf(host, server.port);
  const reader = openReader(records);
  const app = createApp({
    host,
    port: server.port,
    url,
    authenticator,
    sessions: new Sessions(clock),
    loginThrottle: new LoginThrottle(clock),
    reader,
    queues,
    engine: options.engine,
    reasons: options.reasons,
    policies: options.policies,
    health: options.health,
    accounts: options.accounts,
    needAccount: options.needAccount,
    pausing: openPausing(records, clock),
    meters: createMeters({ ...options, reader, eventBus }),
    eventBus,
    clock,
    log,
    closing: closing.signal,
  });
  server.serve(app);
  const link = () => authenticator.linkAt(url);
  return {
    url,
    ...(authenticator.hasPassword
      ? {}
      : {
          get signInLink() {
            return link();
          },
        }),
    async close() {
      closing.abort();
      await server.close();
      await eventBus.close();
    },
  };
}

const openPausing = (records: Records, clock: Pick<Clock, 'now'>): Pausing => ({
  async pause(policy, { reason, until }) {
    const at = clock.now();
    const kept = reason ?? pauseAt(await records.policies.state(policy), at)?.reason;
    await records.policies.pause(policy, {
      at,
      by: 'the dashboard',
      ...(kept === undefined ? {} : { reason: kept }),
      ...(until === undefined ? {} : { until }),
    });
  },
  resume: (policy) => records.policies.resume(policy, clock.now()),
});
