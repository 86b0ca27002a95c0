/** A real OpenID Connect issuer for a test, and a browser that signs in there. */
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import Provider from 'oidc-provider';

export interface Issuer {
  url: string;
  /** What the issuer says about each person, by subject. */
  claims: Map<string, Record<string, unknown>>;
  /** How many requests it has received. */
  requests: () => number;
  /** Registers Caretaker with these addresses. */
  register(redirectUri: string, afterSignOut: string): void;
  stop(): Promise<void>;
}

export const CLIENT = { id: 'caretaker', secret: 'a-secret-of-the-client' };

/** `host`: `localhost` for a browser, to which it is another site than a dashboard at 127.0.0.1. */
export async function startIssuer(host: '127.0.0.1' | 'localhost' = '127.0.0.1'): Promise<Issuer> {
  let answer: RequestListener = (_, response) => response.writeHead(503).end();
  let count = 0;
  const server = createServer((request, response) => {
    count += 1;
    answer(request, response);
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const url = `http://${host}:${(server.address() as AddressInfo).port}`;
  const claims = new Map<string, Record<string, unknown>>();
  return {
    url,
    claims,
    requests: () => count,
    register(redirectUri, afterSignOut) {
      answer = new Provider(url, {
        clients: [
          {
            client_id: CLIENT.id,
            client_secret: CLIENT.secret,
            redirect_uris: [redirectUri],
            post_logout_redirect_uris: [afterSignOut],
          },
        ],
        findAccount: (_: unknown, sub: string) => ({
          accountId: sub,
          claims: () => ({ sub, ...claims.get(sub) }),
        }),
        claims: { openid: ['sub'], profile: ['groups', 'name'], email: ['email', 'email_verified'] },
        pkce: { required: () => true },
        cookies: { keys: ['a key of the test'] },
      }).callback();
    },
    async stop() {
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
    },
  };
}

/** A browser without scripts: follows redirects, and keeps the cookies of each origin. */
export class Browser {
  private readonly cookies = new Map<string, Map<string, string>>();

  /** Requests the address and follows redirects to the first answer that is none. */
  async open(
    address: string,
    form?: Record<string, string>,
  ): Promise<{ url: string; status: number; text: string }> {
    let [url, body] = [address, form];
    for (;;) {
      const { host } = new URL(url);
      const jar = this.cookies.get(host) ?? new Map<string, string>();
      this.cookies.set(host, jar);
      const headers: Record<string, string> = {
        cookie: [...jar].map(([name, value]) => `${name}=${value}`).join('; '),
        accept: 'text/html',
        origin: new URL(url).origin,
      };
      const init = body ? { method: 'POST', body: new URLSearchParams(body) } : {};
      const answer = await fetch(url, { redirect: 'manual', headers, ...init });
      for (const cookie of answer.headers.getSetCookie()) {
        const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(cookie) ?? [];
        if (value === '') jar.delete(name);
        else jar.set(name, value);
      }
      const text = await answer.text();
      const to =
        answer.headers.get('location') ?? /http-equiv="refresh" content="0;url=([^"]+)"/.exec(text)?.[1];
      if (to === undefined || to === null) return { url, status: answer.status, text };
      [url, body] = [new URL(to.replaceAll('&amp;', '&'), url).href, undefined];
    }
  }

  /** Signs in on the pages of the issuer as this person, and agrees to everything. */
  async signInAt(start: string, sub: string) {
    const login = await this.open(start);
    const agree = await this.open(login.url, { prompt: 'login', login: sub, password: 'any' });
    return agree.url.includes('/interaction/') ? this.open(agree.url, { prompt: 'consent' }) : agree;
  }
}
