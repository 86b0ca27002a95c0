/** A real OpenID Connect issuer for a test, and a browser that signs in there. */
import { createSign, generateKeyPairSync } from 'node:crypto';
import { createServer, type RequestListener, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import Provider from 'oidc-provider';

export interface Issuer {
  url: string;
  /** What the issuer says about each person, by subject. */
  claims: Map<string, Record<string, unknown>>;
  /** Changes the claims of the next ID tokens; `keepsSignature`: as someone does who has not its key. */
  changeToken(change: (claims: Record<string, unknown>) => object, keepsSignature?: boolean): void;
  /** How many requests it has received. */
  requests: () => number;
  /** Registers Caretaker with these addresses. */
  register(redirectUri: string, afterSignOut: string): void;
  stop(): Promise<void>;
}

/** The key of all issuers: to make one takes a while. */
const key = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey;
const jwk = { ...key.export({ format: 'jwk' }), kid: 'test', use: 'sig', alg: 'RS256' };

type Change = (token: string) => string;

/** Changes the ID token of an answer before it is sent. */
function changeAnswer(response: ServerResponse, change: Change): void {
  const end = response.end.bind(response) as (body: string) => ServerResponse;
  response.end = ((body: unknown) => {
    const text = String(body).replace(/(?<="id_token":")[^"]+/, change);
    response.setHeader('content-length', Buffer.byteLength(text));
    return end(text);
  }) as typeof response.end;
}

export const CLIENT = { id: 'caretaker', secret: 'a-secret-of-the-client' };

/** `host`: `localhost` for a browser, to which it is another site than a dashboard at 127.0.0.1. */
export async function startIssuer(host: '127.0.0.1' | 'localhost' = '127.0.0.1'): Promise<Issuer> {
  let answer: RequestListener = (_, response) => response.writeHead(503).end();
  let count = 0;
  let change: Change | undefined;
  const server = createServer((request, response) => {
    count += 1;
    if (change && request.url === '/token') changeAnswer(response, change);
    answer(request, response);
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const url = `http://${host}:${(server.address() as AddressInfo).port}`;
  const claims = new Map<string, Record<string, unknown>>();
  return {
    url,
    claims,
    requests: () => count,
    changeToken(changed, keepsSignature = false) {
      change = (token) => {
        const [head = '', body = '', signature = ''] = token.split('.');
        const claims = JSON.parse(Buffer.from(body, 'base64url').toString());
        const signed = `${head}.${Buffer.from(JSON.stringify(changed(claims))).toString('base64url')}`;
        const own = createSign('RSA-SHA256').update(signed).sign(key, 'base64url');
        return `${signed}.${keepsSignature ? signature : own}`;
      };
    },
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
        jwks: { keys: [jwk] },
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
