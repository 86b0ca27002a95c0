import { createMiddleware } from 'hono/factory';
import { BOARD_PATH } from './board.ts';
import type { Env } from './context.ts';

type Source = "'none'" | "'self'";

/** What differs: where a <base> may lead, who may show the page in a frame, and what its own frames may show. */
interface Differs {
  base: Source;
  framedBy: Source;
  frames: Source;
}

const contentPolicy = ({ base, framedBy, frames }: Differs): string =>
  [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data:",
    "connect-src 'self'",
    `frame-src ${frames}`,
    "form-action 'self'",
    `frame-ancestors ${framedBy}`,
    `base-uri ${base}`,
  ].join('; ');

const securityHeaders = {
  'X-Content-Type-Options': 'nosniff',
  // Not `no-referrer`: then forms would arrive without the origin that `auth/origin.ts` checks.
  'Referrer-Policy': 'same-origin',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
};

/**
 * The security headers of every answer: no content from other servers, no inline scripts or styles, no frames,
 * no caching unless the handler allows it. Only the page Queues has a frame, with bull-board in it.
 */
export const safeHeaders = createMiddleware<Env>(async (c, next) => {
  await next();
  const { headers } = c.res;
  const { path } = c.req;
  const isBoard = path === BOARD_PATH || path.startsWith(`${BOARD_PATH}/`);
  const differs: Differs = {
    // bull-board finds its files by a <base> of its own.
    base: isBoard ? "'self'" : "'none'",
    framedBy: isBoard ? "'self'" : "'none'",
    frames: path === '/queues' ? "'self'" : "'none'",
  };
  headers.set('Content-Security-Policy', contentPolicy(differs));
  headers.set('X-Frame-Options', isBoard ? 'SAMEORIGIN' : 'DENY');
  for (const [name, value] of Object.entries(securityHeaders)) headers.set(name, value);
  if (!headers.has('Cache-Control')) headers.set('Cache-Control', 'no-store');
});
