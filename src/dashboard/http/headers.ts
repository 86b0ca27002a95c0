import { createMiddleware } from 'hono/factory';
import { BOARD_PATH } from './board.ts';
import type { Env } from './context.ts';

const contentPolicy = (base: "'none'" | "'self'"): string =>
  [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data:",
    "connect-src 'self'",
    "form-action 'self'",
    "frame-ancestors 'none'",
    `base-uri ${base}`,
  ].join('; ');

const securityHeaders = {
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
  // Not `no-referrer`: then forms would arrive without the origin that `auth/origin.ts` checks.
  'Referrer-Policy': 'same-origin',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
};

/**
 * The security headers of every answer: no content from other servers, no inline scripts or styles, no frames,
 * no caching unless the handler allows it.
 */
export const safeHeaders = createMiddleware<Env>(async (c, next) => {
  await next();
  const { headers } = c.res;
  // bull-board finds its files by a <base> of its own.
  const isBoard = c.req.path === BOARD_PATH || c.req.path.startsWith(`${BOARD_PATH}/`);
  headers.set('Content-Security-Policy', contentPolicy(isBoard ? "'self'" : "'none'"));
  for (const [name, value] of Object.entries(securityHeaders)) headers.set(name, value);
  if (!headers.has('Cache-Control')) headers.set('Cache-Control', 'no-store');
});
