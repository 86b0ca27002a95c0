/** The targets of the faults `redirect` and `redirect-away`, and the requests that followed them. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A request that followed a redirect. */
export interface FollowedRedirect {
  to: 'same-origin' | 'other-origin';
  method: string;
  path: string;
  /** Its `Authorization` header, if any. The token must never be sent to another origin. */
  authorization: string | undefined;
}

export interface Redirects {
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
