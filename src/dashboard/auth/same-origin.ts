import { createMiddleware } from 'hono/factory';
import type { Env } from '../http/context.ts';

/**
 * Refuses what would change something unless the browser says that a page of ours asked for it.
 *
 * Only the host of the origin is compared: behind a proxy that ends TLS, the browser's scheme is another than
 * ours.
 */
export const sameOriginOnly = createMiddleware<Env>(async (c, next) => {
  const changes = !['GET', 'HEAD', 'OPTIONS'].includes(c.req.method);
  const site = c.req.header('sec-fetch-site');
  const ours = site ? site === 'same-origin' : hostIn(c.req.header('origin')) === c.req.header('host');
  if (changes && !ours) return c.text('Only pages of this dashboard may ask for that.\n', 403);
  return next();
});

function hostIn(origin: string | undefined): string | undefined {
  try {
    return origin === undefined ? '' : new URL(origin).host;
  } catch {
    return ''; // "null": a page that hides where it is from
  }
}
