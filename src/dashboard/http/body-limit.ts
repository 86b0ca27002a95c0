import { createMiddleware } from 'hono/factory';
import { HTTPException } from 'hono/http-exception';
import type { Env } from './context.ts';

/**
 * Refuses bodies that announce a length above the limit; Node passes on no more bytes than were announced.
 * Browsers always announce a length, so a body in chunks is refused too and needs no counting.
 */
export const bodyLimit = (maxBytes: number) =>
  createMiddleware<Env>(async (c, next) => {
    if (c.req.header('transfer-encoding') !== undefined)
      throw new HTTPException(411, {
        message: 'Send the form with its length (Content-Length), not in chunks.',
      });
    if (Number(c.req.header('content-length') ?? 0) > maxBytes)
      throw new HTTPException(413, { message: `A form here has at most ${maxBytes} bytes.` });
    return next();
  });
