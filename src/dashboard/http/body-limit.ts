import { createMiddleware } from 'hono/factory';
import { HTTPException } from 'hono/http-exception';
import type { Env } from './context.ts';

/** Forms of the dashboard are far smaller. */
const MAX_FORM_BYTES = 16_384;
/** A request of a program may name a thousand targets. */
const MAX_JSON_BYTES = 262_144;
/** A saved plan has about a kilobyte for each target. */
const MAX_PLAN_BYTES = 16_777_216;
const PLANS = '/api/v1/plans/';

const maxBytesAt = (path: string): number => {
  if (path.startsWith(PLANS)) return MAX_PLAN_BYTES;
  return path.startsWith('/api/') ? MAX_JSON_BYTES : MAX_FORM_BYTES;
};

/**
 * Refuses bodies that announce a length above the limit; Node passes on no more bytes than were announced.
 * Browsers always announce a length, so a body in chunks is refused too and needs no counting.
 */
export const bodyLimit = createMiddleware<Env>(async (c, next) => {
  const what = c.req.path.startsWith('/api/') ? 'body' : 'form';
  const maxBytes = maxBytesAt(c.req.path);
  if (c.req.header('transfer-encoding') !== undefined)
    throw new HTTPException(411, {
      message: `Send the ${what} with its length (Content-Length), not in chunks.`,
    });
  if (Number(c.req.header('content-length') ?? 0) > maxBytes)
    throw new HTTPException(413, { message: `A ${what} here has at most ${maxBytes} bytes.` });
  return next();
});
