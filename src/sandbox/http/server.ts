/** The sandbox on a socket: reads requests, applies faults, sends answers, and writes the journal. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Clock } from '../../clock.ts';
import { SANDBOX_SERVER } from '../../contract/service-address.ts';
import type { AnswerChanger } from '../faults/change-answer.ts';
import { type FaultKind, type Faults, stopAmong } from '../faults.ts';
import { JOURNAL_PATH, type OpenJournal, showJournal } from '../journal.ts';
import { type Delivery, deliverUnder, send } from './delivery.ts';
import { answer, type Service } from './exchange.ts';
import { routeTo } from './router.ts';

// The targets of the faults `redirect` and `redirect-away`, and the requests that followed them.

/** A request that followed a redirect. */
export interface FollowedRedirect {
  to: 'same-origin' | 'other-origin';
  method: string;
  path: string;
  /** Its `Authorization` header, if any. The token must never be sent to another origin. */
  authorization: string | undefined;
}

interface Redirects {
  readonly followed: readonly FollowedRedirect[];
  /** The status and `Location` of the next redirect, for a path with its query string. */
  next(to: FollowedRedirect['to'], path: string): Promise<{ status: number; location: string }>;
  /** Answers a request for a path that a redirect of the same origin led to; `false` for any other path. */
  serve(request: IncomingMessage, response: ServerResponse): boolean;
  stop(): Promise<void>;
}

const PREFIX = '/moved';
const STATUSES = [301, 302, 307, 308] as const;

/** The other origin is another port of this machine. It starts listening at the first such redirect. */
export function openRedirects(): Redirects {
  const followed: FollowedRedirect[] = [];
  const arrive = (to: FollowedRedirect['to'], request: IncomingMessage, response: ServerResponse) => {
    const { method = 'GET', url: path = '/', headers } = request;
    followed.push({ to, method, path, authorization: headers.authorization });
    response.writeHead(200, { 'Content-Type': 'text/html; charset=utf-8' }).end('<h1>Please sign in</h1>');
  };
  const elsewhere = createServer((request, response) => arrive('other-origin', request, response));
  let listening: Promise<string> | undefined;
  const listen = () =>
    new Promise<string>((resolve, reject) => {
      elsewhere.once('error', reject);
      elsewhere.listen(0, '127.0.0.1', () => {
        resolve(`http://127.0.0.1:${(elsewhere.address() as AddressInfo).port}`);
      });
    });
  let made = 0;
  return {
    followed,
    async next(to, path) {
      const status = STATUSES[made % STATUSES.length] ?? 302;
      made += 1;
      if (to === 'same-origin') return { status, location: PREFIX + path };
      listening ??= listen();
      return { status, location: (await listening) + path };
    },
    serve(request, response) {
      if (!request.url?.startsWith(`${PREFIX}/`)) return false;
      arrive('same-origin', request, response);
      return true;
    },
    async stop() {
      if (!listening) return;
      await listening;
      const closed = new Promise<void>((resolve) => {
        elsewhere.close(() => resolve());
      });
      elsewhere.closeAllConnections();
      await closed;
    },
  };
}

/** The base path of the API (spec 9). */
export const BASE_PATH = '/api/v6';
const DESCRIPTION_PATH = `${BASE_PATH}/openapi.json`;
const MAX_BODY_BYTES = 1_000_000;
/** The delay of a slow answer. */
const SLOW_MS = 10_000;
/** How many requests another client sends at a time. */
const OTHERS_REQUESTS = 10;

interface ServerParts {
  service: Service;
  faults: Faults;
  change: AnswerChanger;
  redirects: Redirects;
  journal: OpenJournal;
  clock: Clock;
  /** Whether answers have a `Date` header with the service's time. */
  dateHeader: boolean;
}

interface RunningServer {
  port: number;
  /** Stops listening, and closes every connection. */
  refuse(): void;
  /** Listens again, on the same port. */
  accept(): void;
  stop(): Promise<void>;
}

/** Listens on `host` and `port` (0 = any free one). */
export async function listen(parts: ServerParts, host: string, port: number): Promise<RunningServer> {
  const server = createServer((request, response) => {
    handle(parts, request, response).catch((error: Error) => response.destroy(error));
  });
  // Longer than callers keep their connections, so that callers close them and no request reaches a closing
  // socket.
  server.keepAliveTimeout = 120_000;
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.off('error', reject);
      resolve();
    });
  });
  const bound = (server.address() as AddressInfo).port;
  return {
    port: bound,
    refuse: () => {
      server.close();
      server.closeAllConnections();
    },
    accept: () => {
      server.listen(bound, host);
    },
    stop: () => stop(server),
  };
}

async function stop(server: Server): Promise<void> {
  const closed = new Promise<void>((resolve) => {
    // An error means that it is already closed, which is fine.
    server.close(() => resolve());
  });
  server.closeAllConnections();
  await closed;
}

async function handle(parts: ServerParts, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const url = new URL(request.url ?? '/', 'http://sandbox');
  if (url.pathname === JOURNAL_PATH) return showJournal(parts.journal, url.searchParams, request, response);
  // Node would send the machine's time, which is not the service's.
  response.sendDate = false;
  response.setHeader('Server', SANDBOX_SERVER);
  if (parts.redirects.serve(request, response)) return;
  if (parts.dateHeader) response.setHeader('Date', new Date(parts.service.now()).toUTCString());
  if (!url.pathname.startsWith(`${BASE_PATH}/`)) {
    response.writeHead(404).end();
    return;
  }
  const body = await readBody(request);
  if (body === undefined) return;

  // Synchronous from here to the answer, so the world does not change meanwhile.
  const began = performance.now();
  const method = request.method ?? 'GET';
  const route = routeTo(method, url.pathname.slice(BASE_PATH.length));
  const met = parts.faults.meet(route?.operation ?? null);
  if (met.includes('other-consumer')) parts.service.account.control.useUpRequests(OTHERS_REQUESTS);
  const asked = {
    operation: route?.operation ?? null,
    acceptsGzip: /\bgzip\b/i.test(String(request.headers['accept-encoding'] ?? '')),
  };
  const delivery = deliverUnder(
    met,
    () =>
      answer(parts.service, {
        route,
        pageFaults: {
          itemsMove: met.includes('moving-items'),
          isUnstable: met.includes('unstable-order'),
          isShort: met.includes('too-few-pages'),
        },
        asksForDescription: method === 'GET' && url.pathname === DESCRIPTION_PATH,
        authorization: request.headers.authorization,
        search: url.searchParams,
        body,
      }),
    (answered) => parts.change(met, asked, answered),
  );
  const stop = stopAmong(met);
  const fault = stop ?? met[0];
  const number = parts.journal.noteRequest({
    at: parts.clock.now(),
    operation: route?.operation ?? null,
    method,
    path: url.pathname,
    query: url.search.slice(1),
    status: delivery.answered?.status ?? 0,
    ms: performance.now() - began,
    ...(fault && { fault }),
    ...(delivery.answered?.mistake !== undefined && { mistake: delivery.answered.mistake }),
  });
  // The spec names no such header. Services have one, and ours says which entry of the journal it is.
  response.setHeader('X-Request-Id', `sandbox-${number}`);
  if (met.includes('slow')) await parts.clock.sleep(SLOW_MS);
  send(response, await redirected(parts.redirects, stop, `${url.pathname}${url.search}`, delivery));
}

/** The same delivery; a redirect gets the next status and location. */
async function redirected(
  redirects: Redirects,
  stop: FaultKind | undefined,
  path: string,
  delivery: Delivery,
): Promise<Delivery> {
  if (!delivery.sent || (stop !== 'redirect' && stop !== 'redirect-away')) return delivery;
  const to = stop === 'redirect' ? 'same-origin' : 'other-origin';
  const { status, location } = await redirects.next(to, path);
  return { ...delivery, sent: { ...delivery.sent, status, headers: { Location: location } } };
}

/** The whole body as text; undefined when the caller disconnects or sends more than any operation takes. */
async function readBody(request: IncomingMessage): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of request as AsyncIterable<Buffer>) {
      size += chunk.length;
      if (size > MAX_BODY_BYTES) {
        request.destroy();
        return undefined;
      }
      chunks.push(chunk);
    }
  } catch {
    // The caller disconnected while sending: the request was never complete.
    return undefined;
  }
  return Buffer.concat(chunks).toString('utf8');
}
