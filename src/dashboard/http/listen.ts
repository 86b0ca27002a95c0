import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { getRequestListener } from '@hono/node-server';
import type { Hono } from 'hono';
import { CaretakerError, messageOf, systemCodeOf } from '../../errors.ts';
import { withoutBase } from './base-path.ts';
import type { Env } from './context.ts';

/** The dashboard cannot be served. The message names the setting to change. */
export class DashboardError extends CaretakerError {
  readonly code = 'DASHBOARD';
}

export interface Listening {
  port: number;
  /** Answers requests from now on; earlier ones got a 503. `base`: the path of `public_url`. */
  serve(app: Hono<Env>, base: string): void;
  /** Stops listening and cuts every connection. */
  close(): Promise<void>;
}

/**
 * Listens on an address before there is anything to serve: so the port is known, and reserved.
 *
 * @throws {DashboardError} when it cannot listen there.
 */
export async function listen(host: string, port: number): Promise<Listening> {
  let answer: ReturnType<typeof getRequestListener> | undefined;
  const server = createServer((request, response) => {
    if (answer) return answer(request, response);
    response.writeHead(503, { 'Retry-After': '1' }).end();
    return undefined;
  });
  await bind(server, host, port);
  return {
    port: (server.address() as AddressInfo).port,
    serve(app, base) {
      const listener = getRequestListener(app.fetch, { overrideGlobalObjects: false });
      answer = (request, response) => {
        request.url = withoutBase(request.url ?? '/', base);
        return listener(request, response);
      };
    },
    async close() {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
}

async function bind(server: Server, host: string, port: number): Promise<void> {
  try {
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(port, host, () => {
        server.off('error', reject);
        resolve();
      });
    });
  } catch (error) {
    throw new DashboardError(whyNot(error, host, port), { cause: error });
  }
}

function whyNot(error: unknown, host: string, port: number): string {
  const where = `The dashboard cannot listen on ${host}, port ${port}`;
  switch (systemCodeOf(error)) {
    case 'EADDRINUSE':
      return `${where}: another program uses it. Set dashboard.port to a free one, or to 0 for any.`;
    case 'EACCES':
      return `${where}: the system does not allow it. Set dashboard.port to one above 1023.`;
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return `${where}: this machine has no such address. Set dashboard.host to 127.0.0.1, 0.0.0.0 or one that it has.`;
    default:
      return `${where}: ${messageOf(error)}. Look at dashboard.host and dashboard.port.`;
  }
}
