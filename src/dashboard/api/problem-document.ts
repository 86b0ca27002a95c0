/** Errors of the API: problem documents (RFC 9457). */
import { STATUS_CODES } from 'node:http';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import { z } from 'zod';
import { ForbiddenError } from '../../control/errors.ts';
import type { CaretakerError } from '../../errors.ts';
import { visibleJson } from '../../text.ts';
import type { Exchange } from '../http/context.ts';

export const ProblemDocument = z
  .object({
    type: z.literal('about:blank'),
    title: z.string().describe('The name of the HTTP status.'),
    status: z.int(),
    detail: z.string().describe('One sentence: what is wrong, and what to do.'),
    code: z.string().describe('The error code; it never changes. docs/errors.md explains each.'),
  })
  .meta({ id: 'Problem' });

/** Addresses for programs; all others are pages for people. */
export const forPrograms = /^\/(api|metrics|healthz|readyz|events)(\/|$)/;

/** Sends a problem document. */
export const refuse = (c: Exchange, status: ContentfulStatusCode, code: string, detail: string): Response => {
  const problem: z.output<typeof ProblemDocument> = {
    type: 'about:blank',
    title: STATUS_CODES[status] ?? 'Error',
    status,
    detail,
    code,
  };
  return c.body(visibleJson(problem), status, { 'Content-Type': 'application/problem+json' });
};

const statuses: Record<string, ContentfulStatusCode> = {
  INVALID_REQUEST: 400,
  FORBIDDEN: 403,
  NOT_FOUND: 404,
  UNSUPPORTED_MEDIA_TYPE: 415,
  KEY_REUSED: 422,
  REDIS_REFUSES: 503,
  REDIS_UNREACHABLE: 503,
};

/** The HTTP status of an error. Other errors mean that the present state does not allow the request: 409. */
export function statusOf(error: CaretakerError): ContentfulStatusCode {
  // What a principal may not see is answered as if it did not exist.
  if (error instanceof ForbiddenError && !error.isVisible) return 404;
  return statuses[error.code] ?? 409;
}

/** Sends the problem document of an error. */
export function sendError(c: Exchange, error: CaretakerError): Response {
  const status = statusOf(error);
  if (error.code === 'KEY_BUSY') c.header('Retry-After', '1');
  return error instanceof ForbiddenError && status === 404
    ? refuse(c, 404, 'NOT_FOUND', 'There is no such thing, or you may not see it.')
    : refuse(c, status, error.code, error.message);
}
