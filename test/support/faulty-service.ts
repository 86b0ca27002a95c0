/** A service that misbehaves in ways that the sandbox never does: the test answers each request. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface FaultyService {
  /** The base URL, with the version as the real one has it. */
  url: string;
  origin: string;
  /** The requests in order: method and path. */
  requests: string[];
  /** The `Authorization` headers of the requests, in the same order. */
  authorizations: (string | undefined)[];
  stop(): Promise<void>;
}

/** Listens on any free port of this machine; `answer` is called for each request. */
export async function startFaultyService(
  answer: (request: IncomingMessage, response: ServerResponse) => void,
): Promise<FaultyService> {
  const requests: string[] = [];
  const authorizations: (string | undefined)[] = [];
  const server = createServer((request, response) => {
    requests.push(`${request.method} ${request.url}`);
    authorizations.push(request.headers.authorization);
    answer(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url: `${origin}/api/v6`,
    origin,
    requests,
    authorizations,
    stop() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeAllConnections();
      return closed;
    },
  };
}

/** Answers with JSON. */
export function sendJson(
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Record<string, string> = {},
): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
}
