import { createMiddleware } from 'hono/factory';
import { HTTPException } from 'hono/http-exception';
import type { Env } from './context.ts';

/**
 * Refuses bodies larger than any form of ours, by the length they announce; Node lets no more through than
 * that. Browsers always announce it, so a body in chunks is asked to come again with its length, and needs no
 * counting.
 */
export const bodyLimit = (mostBytes: number) =>
  createMiddleware<Env>(async (c, next) => {
    if (c.req.header('transfer-encoding') !== undefined)
      throw new HTTPException(411, {
        message: 'Send the form with its length (Content-Length), not in chunks.',
      });
    if (Number(c.req.header('content-length') ?? 0) > mostBytes)
      throw new HTTPException(413, { message: `A form here has at most ${mostBytes} bytes.` });
    return next();
  });
