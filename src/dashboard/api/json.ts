/** Answers for programs. */
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import { z } from 'zod';
import { visibleJson } from '../../text.ts';
import type { Exchange } from '../http/context.ts';

/** Sends JSON without control characters: somebody may read it in a terminal. */
export const sendJson = (c: Exchange, value: object): Response =>
  c.body(visibleJson(value), 200, { 'Content-Type': 'application/json' });

/** Sends an error: a code that never changes, and a sentence. */
export const refuse = (c: Exchange, status: ContentfulStatusCode, code: string, message: string): Response =>
  c.json({ error: { code, message } }, status);

export const refuseQuery = (c: Exchange, error: z.ZodError): Response =>
  refuse(c, 400, 'bad_query', z.prettifyError(error));

/** For addresses under `/api` that no endpoint has. */
export const sendNoEndpoint = (c: Exchange): Response =>
  refuse(c, 404, 'not_found', 'There is no such endpoint; src/dashboard/README.md lists them.');
