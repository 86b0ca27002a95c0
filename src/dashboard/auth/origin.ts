/** Requests have to come from pages of this server, and redirects lead to no other one. */
import { createMiddleware } from 'hono/factory';
import { isLoopback } from '../../settings/settings.ts';
import type { Env } from '../http/context.ts';

/**
 * On a loopback address, answers only requests for a loopback name. So a page elsewhere whose name was made to
 * point at this machine (DNS rebinding) gets nothing. The port may be any, since tunnels change it.
 */
export const ownHostOnly = (listeningOn: string) =>
  createMiddleware<Env>(async (c, next) => {
    if (isLoopback(listeningOn) && !isLoopback(nameIn(c.req.header('host') ?? ''))) {
      return c.text(
        'This dashboard answers to 127.0.0.1 and localhost only. A proxy in front of it has to send one of them as Host.\n',
        421,
      );
    }
    return next();
  });

/**
 * Refuses a request that may change something unless the browser says that a page of this server sent it.
 *
 * Only the host of the origin is compared: behind a proxy that ends TLS, the browser's scheme is not ours.
 */
export const sameOriginOnly = createMiddleware<Env>(async (c, next) => {
  const changes = !['GET', 'HEAD', 'OPTIONS'].includes(c.req.method);
  const site = c.req.header('sec-fetch-site');
  const ours = site ? site === 'same-origin' : hostIn(c.req.header('origin')) === c.req.header('host');
  if (changes && !ours) return c.text('Only pages of this dashboard can send this request.\n', 403);
  return next();
});

const HERE = 'http://here';

/** The path and query of an address. Wherever the address points, a redirect to the result stays on this server. */
export function localPath(address: string): string {
  if (!URL.canParse(address, HERE)) return '/';
  const { pathname, search } = new URL(address, HERE);
  // Two slashes at the start would be the name of another server.
  return `/${pathname.replace(/^[/\\]+/, '')}${search}`;
}

function nameIn(host: string): string {
  try {
    return new URL(`http://${host}`).hostname.replace(/^\[|\]$/g, '');
  } catch {
    return ''; // not a host, so not a loopback name
  }
}

function hostIn(origin: string | undefined): string | undefined {
  try {
    return origin === undefined ? '' : new URL(origin).host;
  } catch {
    return ''; // "null": a page that hides its origin
  }
}
