import type { ContentfulStatusCode } from 'hono/utils/http-status';
import { z } from 'zod';
import { visibleJson } from '../../visible.ts';
import type { Exchange } from '../http/context.ts';

/** An answer as JSON in which nothing stands that steers the terminal of whoever asked by hand. */
export const sendJson = (c: Exchange, value: object): Response =>
  c.body(visibleJson(value), 200, { 'Content-Type': 'application/json' });

/** What programs are told when they cannot have what they ask for: a code that stays, and a sentence. */
export const refuse = (c: Exchange, status: ContentfulStatusCode, code: string, message: string): Response =>
  c.json({ error: { code, message } }, status);

export const refuseQuery = (c: Exchange, error: z.ZodError): Response =>
  refuse(c, 400, 'bad_query', z.prettifyError(error));

/** The address is of no endpoint. */
export const sendNoEndpoint = (c: Exchange): Response =>
  refuse(c, 404, 'not_found', 'There is no such endpoint; src/dashboard/README.md lists them.');
