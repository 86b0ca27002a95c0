/** The sandbox on a socket: reads requests, applies faults, sends answers, and keeps the journal of them. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Clock } from '../../clock.ts';
import type { FaultKind, Faults } from '../faults.ts';
import type { OpenJournal } from '../journal.ts';
import { answer, type Reply, type Service } from './exchange.ts';
import { routeTo } from './router.ts';

/** Where the API begins (spec 9). */
export const BASE_PATH = '/api/v6';
const DESCRIPTION_PATH = `${BASE_PATH}/openapi.json`;
const JOURNAL_PATH = '/__sandbox/journal';
const LARGEST_BODY = 1_000_000;

export interface ServerParts {
  service: Service;
  faults: Faults;
  journal: OpenJournal;
  clock: Clock;
}

export interface RunningServer {
  port: number;
  /** Nobody listens any more, and every connection is destroyed. */
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
  // Longer than callers keep their connections: it is they who close, so that no request meets a closing socket.
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
    // Already closed while it refuses: that is the state we want.
    server.close(() => resolve());
  });
  server.closeAllConnections();
  await closed;
}

async function handle(parts: ServerParts, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const url = new URL(request.url ?? '/', 'http://sandbox');
  if (url.pathname === JOURNAL_PATH) return showJournal(parts.journal, request, response);
  if (!url.pathname.startsWith(`${BASE_PATH}/`)) {
    response.writeHead(404).end();
    return;
  }
  const body = await readBody(request);
  if (body === undefined) return;

  // From here to the answer nothing waits, so the world stands still meanwhile.
  const began = performance.now();
  const method = request.method ?? 'GET';
  const route = routeTo(method, url.pathname.slice(BASE_PATH.length));
  const fault = parts.faults.meet(route?.operation ?? null);
  const reply = replyUnder(fault, () =>
    answer(parts.service, {
      route,
      asksForDescription: method === 'GET' && url.pathname === DESCRIPTION_PATH,
      authorization: request.headers.authorization,
      search: url.searchParams,
      body,
    }),
  );
  parts.journal.noteRequest({
    at: parts.clock.now(),
    operation: route?.operation ?? null,
    method,
    path: url.pathname,
    query: url.search.slice(1),
    status: reply?.status ?? 0,
    ms: performance.now() - began,
    ...(fault && { fault }),
    ...(reply?.mistake !== undefined && { mistake: reply.mistake }),
  });
  send(response, reply, fault);
}

/** What a request is answered under a fault: nothing when it strikes before the service has looked at the request. */
function replyUnder(fault: FaultKind | undefined, answerIt: () => Reply): Reply | undefined {
  if (fault === 'status-503') return unavailable;
  return fault === undefined || fault === 'reset-after' || fault === 'truncate' ? answerIt() : undefined;
}

const unavailable: Reply = {
  status: 503,
  headers: {},
  body: JSON.stringify({ error: { code: 'unavailable', message: 'The service is unavailable.' } }),
};

/** Sends a reply, or what a fault leaves of it. */
function send(response: ServerResponse, reply: Reply | undefined, fault: FaultKind | undefined): void {
  if (fault === 'hang') return;
  if (!reply || fault === 'reset-after') {
    response.destroy();
    return;
  }
  const { status, headers, body } = reply;
  if (body === undefined) {
    if (fault === 'truncate') response.destroy();
    else response.writeHead(status, headers).end();
    return;
  }
  const bytes = typeof body === 'string' ? Buffer.from(body) : body;
  response.writeHead(status, {
    ...headers,
    'Content-Type': typeof body === 'string' ? 'application/json; charset=utf-8' : 'application/pdf',
    'Content-Length': bytes.length,
  });
  if (fault !== 'truncate') {
    response.end(bytes);
    return;
  }
  // The length is that of the whole, so that the caller can tell; the half must be out before the connection goes.
  response.write(bytes.subarray(0, Math.floor(bytes.length / 2)), () => response.destroy());
}

/** The whole body as text; nothing when the caller went away or sends more than any operation takes. */
async function readBody(request: IncomingMessage): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of request as AsyncIterable<Buffer>) {
      size += chunk.length;
      if (size > LARGEST_BODY) {
        request.destroy();
        return undefined;
      }
      chunks.push(chunk);
    }
  } catch {
    // The caller cut the connection while sending: a request that never came.
    return undefined;
  }
  return Buffer.concat(chunks).toString('utf8');
}

/** The journal for people and other processes on this machine; not part of the API, so it needs no token. */
function showJournal(journal: OpenJournal, request: IncomingMessage, response: ServerResponse): void {
  const from = request.socket.remoteAddress ?? '';
  if (!/^(::ffff:)?127\.|^::1$/.test(from)) {
    response.writeHead(403).end();
    return;
  }
  const { totals, requests, effects } = journal;
  response
    .writeHead(200, { 'Content-Type': 'application/json; charset=utf-8' })
    .end(JSON.stringify({ totals, requests, effects }));
}
