import { createMiddleware } from 'hono/factory';
import { BOARD_PATH } from './board.ts';
import type { Env } from './context.ts';

const content = (base: "'none'" | "'self'"): string =>
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

const always = {
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
  // Not `no-referrer`: that would also hide from us that a form came from a page of ours.
  'Referrer-Policy': 'same-origin',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
};

/**
 * What every answer says to the browser: nothing from elsewhere, nothing inline, nothing in a frame, nothing
 * kept.
 */
export const safeHeaders = createMiddleware<Env>(async (c, next) => {
  await next();
  const { headers } = c.res;
  // bull-board finds its files by a <base> of its own.
  const isBoard = c.req.path === BOARD_PATH || c.req.path.startsWith(`${BOARD_PATH}/`);
  headers.set('Content-Security-Policy', content(isBoard ? "'self'" : "'none'"));
  for (const [name, value] of Object.entries(always)) headers.set(name, value);
  if (!headers.has('Cache-Control')) headers.set('Cache-Control', 'no-store');
});
