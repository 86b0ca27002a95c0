/** The front of the room: pages for people, JSON and metrics for programs, over one HTTP server. */
import { dashboardUrl, isLoopback } from '../settings/settings.ts';
import { Authenticator } from './auth/authenticator.ts';
import { LoginThrottle } from './auth/login-throttle.ts';
import { OidcSignIn } from './auth/oidc.ts';
import { Sessions } from './auth/sessions.ts';
import { openEventBus } from './events/event-bus.ts';
import { createApp } from './http/app.ts';
import { basePathOf } from './http/base-path.ts';
import { DashboardError, listen } from './http/listen.ts';
import { routes } from './http/routes.ts';
import { openMeters } from './monitoring/meters.ts';
import type { DashboardOptions } from './options.ts';
import { openReader } from './queries/reader.ts';

export interface Dashboard {
  /** `http://127.0.0.1:8480`, without a slash at the end. */
  readonly url: string;
  /** Signs one browser in; missing when there is another way to sign in. Once used, the next read gives a new one. */
  readonly signInLink?: string;
  /** Stops listening and closes every connection, live streams included. */
  close(): Promise<void>;
}

/**
 * Starts to serve.
 *
 * @throws {DashboardError} when it cannot listen on the address, the address is not loopback and no password is set, or the path of
 * `public_url` is also one of its own.
 */
export async function startDashboard(options: DashboardOptions): Promise<Dashboard> {
  const { host, port, records, queues, clock, log } = options;
  const authenticator = new Authenticator(options.password, options.access);
  if (authenticator.hasLink && !isLoopback(host)) {
    throw new DashboardError(
      `The dashboard has no password and no users, so it listens on this machine only, and not on ${host}: set dashboard.password (CARETAKER_DASHBOARD_PASSWORD) or access.users, or dashboard.host to 127.0.0.1.`,
    );
  }
  const basePath = basePathOf(options.publicUrl);
  const [, first] = basePath.split('/');
  if (first && routes.some(({ path }) => path.split('/')[1] === first))
    throw new DashboardError(
      `dashboard.public_url has the path ${basePath}, and /${first} is also an address of the dashboard itself. Serve it under another path.`,
    );
  const closing = new AbortController();
  const server = await listen(host, port);
  const eventBus = await openEventBus(records).catch(async (error) => {
    await server.close();
    throw error;
  });
  const url = dashboardUrl(host, server.port);
  const reader = openReader(records, clock);
  const { measurements, deliveries } = records;
  const read = { ...options, reader, eventBus, measurements, deliveries };
  const meters = await openMeters(read).catch(async (error) => {
    await eventBus.close();
    await server.close();
    throw error;
  });
  const app = createApp({
    host,
    port: server.port,
    url,
    access: options.access,
    authenticator,
    oidc: new OidcSignIn(options.access, clock),
    publicUrl: options.publicUrl,
    basePath,
    sessions: new Sessions(records.sessions, options.access, clock, (id) => authenticator.markOf(id)),
    loginThrottle: new LoginThrottle(clock),
    reader,
    queues,
    reasons: options.reasons,
    policies: options.policies,
    health: options.health,
    redisSilentMs: options.redisSilentMs,
    accounts: options.accounts,
    budgetOf: options.budgetOf,
    receivers: options.receivers,
    control: {
      records,
      clock,
      audit: options.audit,
      engine: options.engine,
      queues,
      policies: options.policies,
      registry: options.registry,
      version: options.version,
      policy: (name) => options.policies().find((policy) => policy.name === name),
      needAccount: options.needAccount,
      budgetOf: options.budgetOf,
      receivers: options.receivers,
      sendTest: options.sendTest,
      ...options.names,
    },
    meters,
    eventBus,
    onSignIn: options.onSignIn ?? (() => undefined),
    clock,
    log,
    closing: closing.signal,
  });
  server.serve(app, basePath);
  const link = () => authenticator.linkAt(options.publicUrl ?? url);
  return {
    url,
    ...(authenticator.hasLink
      ? {
          get signInLink() {
            return link();
          },
        }
      : {}),
    async close() {
      closing.abort();
      await server.close();
      await meters.close();
      await eventBus.close();
    },
  };
}
