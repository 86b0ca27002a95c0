/** Answers for programs. */
import { z } from 'zod';
import { visibleJson } from '../../text.ts';
import type { Exchange } from '../http/context.ts';
import { refuse } from './problem-document.ts';

/** Sends JSON without control characters: somebody may read it in a terminal. */
export const sendJson = (c: Exchange, value: object): Response =>
  c.body(visibleJson(value), 200, { 'Content-Type': 'application/json' });

export const refuseQuery = (c: Exchange, error: z.ZodError): Response =>
  refuse(c, 400, 'INVALID_REQUEST', z.prettifyError(error));

/** For addresses under `/api` that no endpoint has. */
export const sendNoEndpoint = (c: Exchange): Response =>
  refuse(c, 404, 'NOT_FOUND', 'There is no such endpoint; GET /api/v1/openapi.json describes all of them.');
