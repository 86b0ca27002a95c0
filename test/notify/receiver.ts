import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { onTestFinished } from 'vitest';

export interface Received {
  path: string;
  headers: IncomingHttpHeaders;
  body: string;
}

export interface Receiver {
  url: string;
  received: Received[];
  /** Resolves once so many letters have come. */
  untilReceived(count: number): Promise<void>;
  /** Lets nobody connect any more. */
  close(): Promise<void>;
}

type Answer = number | ((response: ServerResponse) => void);

/**
 * A webhook over real HTTP that answers with these statuses in turn, the last again and again; gone with the
 * test.
 */
export async function startReceiver(...answers: Answer[]): Promise<Receiver> {
  const received: Received[] = [];
  let waiting: { count: number; resolve: () => void }[] = [];
  const server = createServer((request, response) => {
    void text(request).then((body) => {
      received.push({ path: request.url ?? '', headers: request.headers, body });
      const answer = answers[Math.min(received.length, answers.length) - 1] ?? 204;
      if (typeof answer === 'number') response.writeHead(answer).end();
      else answer(response);
      for (const { resolve } of waiting.filter(({ count }) => count <= received.length)) resolve();
      waiting = waiting.filter(({ count }) => count > received.length);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const close = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  onTestFinished(close);
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`,
    received,
    untilReceived: (count) =>
      received.length >= count
        ? Promise.resolve()
        : new Promise((resolve) => waiting.push({ count, resolve })),
    close,
  };
}
