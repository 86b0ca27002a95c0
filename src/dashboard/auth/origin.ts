/** Requests have to come from pages of this server, and redirects lead to no other one. */
import { createMiddleware } from 'hono/factory';
import { isLoopback } from '../../settings/settings.ts';
import { forPrograms, refuse } from '../api/problem-document.ts';
import type { DashboardContext, Env, Exchange } from '../http/context.ts';
import { isBearer } from './caller.ts';

/**
 * On a loopback address, answers only requests for a loopback name or that of `public_url`. So a page elsewhere whose
 * name was made to point at this machine (DNS rebinding) gets nothing. The port may be any, since tunnels change it.
 */
export const ownHostOnly = ({ host, publicUrl }: Pick<DashboardContext, 'host' | 'publicUrl'>) =>
  createMiddleware<Env>(async (c, next) => {
    const name = nameIn(c.req.header('host') ?? '');
    const isOwn = isLoopback(name) || (publicUrl !== undefined && name === new URL(publicUrl).hostname);
    if (isLoopback(host) && !isOwn) {
      return say(
        c,
        421,
        'WRONG_HOST',
        'This dashboard answers to 127.0.0.1 and localhost only. A proxy in front of it has to send one of them, or the name in dashboard.public_url, as Host.',
      );
    }
    return next();
  });

/**
 * Refuses a request that may change something unless the browser says that a page of this server sent it.
 *
 * Requests with a bearer token are admitted: no page of another site can make a browser send one.
 *
 * Only the host of the origin is compared: behind a proxy that ends TLS, the browser's scheme is not ours. A proxy may
 * send a `Host` of its own, so the host of `public_url` is ours too. Over plain http, browsers send no `Sec-Fetch-Site`.
 */
export const sameOriginOnly = ({ publicUrl }: Pick<DashboardContext, 'publicUrl'>) => {
  const publicHost = hostIn(publicUrl);
  return createMiddleware<Env>(async (c, next) => {
    const changes = !['GET', 'HEAD', 'OPTIONS'].includes(c.req.method);
    const { 'sec-fetch-site': site, origin, host } = c.req.header();
    const from = hostIn(origin);
    const ours = site ? site === 'same-origin' : from !== '' && [host, publicHost].includes(from);
    if (changes && !ours && !isBearer(c))
      return say(c, 403, 'WRONG_ORIGIN', whyForeign({ from, host, publicUrl }));
    return next();
  });
};

interface Foreign {
  from: string;
  host: string | undefined;
  publicUrl: string | undefined;
}

function whyForeign({ from, host, publicUrl }: Foreign): string {
  const rule = 'Only pages of this dashboard, or requests with a bearer token, can change anything.';
  return from && host && from !== host
    ? `${rule} The page is from ${from}, but the request came with the Host ${host}. If ${from} is this dashboard behind a proxy, set dashboard.public_url to its address (${publicUrl === undefined ? 'it is not set' : `now ${publicUrl}`}), or let the proxy send ${from} as Host.`
    : rule;
}

const say = (c: Exchange, status: 403 | 421, code: string, message: string) =>
  forPrograms.test(c.req.path) ? refuse(c, status, code, message) : c.text(`${message}\n`, status);

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

/** Empty when there is none: a page that hides its origin sends "null". */
const hostIn = (address: string | undefined): string =>
  address !== undefined && URL.canParse(address) ? new URL(address).host : '';
