/**
 * One HTTP exchange with the service over undici: where the token goes, how long we wait, how much we read.
 * What a status means is decided above, in `api.ts`.
 */
import type { Readable } from 'node:stream';
import { Pool } from 'undici';
import type { OperationId } from '../contract/operations.ts';
import { messageOf, systemCodeOf } from '../errors.ts';
import { UnavailableError } from './errors.ts';

/** The largest JSON body that is read; a page of 100 sites has about 65 kB. */
const MAX_BODY_BYTES = 10 * 1024 * 1024;
const CONNECT_MS = 5_000;
const HEADERS_MS = 30_000;
const BODY_MS = 30_000;
const MAX_REDIRECTS = 3;

/** Failures that come before the first byte of a request is sent. */
const neverSent = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOENT',
  'UND_ERR_CONNECT_TIMEOUT',
  'ERR_TLS_CERT_ALTNAME_INVALID',
]);

export interface Exchange {
  operation: OperationId;
  method: 'GET' | 'POST' | 'DELETE';
  /** Path and query, relative to the base URL. */
  target: string;
  body?: unknown;
  signal?: AbortSignal | undefined;
}

export interface Reply {
  status: number;
  header(name: string): string | undefined;
  body: Readable;
}

/** A keep-alive connection pool to one account's base URL, with its token. */
export class Connection {
  private readonly pool: Pool;
  private readonly base: URL;

  constructor(
    baseUrl: string,
    private readonly token: string,
  ) {
    this.base = new URL(baseUrl);
    this.pool = new Pool(this.base.origin, {
      connections: 64,
      connect: { timeout: CONNECT_MS },
      headersTimeout: HEADERS_MS,
      bodyTimeout: BODY_MS,
    });
  }

  /**
   * Sends one request. Redirects are followed for reads only, and never to another origin: the token stays home.
   *
   * @throws {UnavailableError} when no answer came; its `sent` says whether the request may have arrived.
   */
  async exchange(exchange: Exchange): Promise<Reply> {
    let path = `${this.base.pathname}${exchange.target}`;
    for (let redirects = 0; ; redirects += 1) {
      const reply = await this.send(exchange, path);
      const location = reply.header('location');
      if (exchange.method !== 'GET' || reply.status < 301 || reply.status > 308 || !location) return reply;
      const next = new URL(location, new URL(path, this.base));
      if (next.origin !== this.base.origin || redirects === MAX_REDIRECTS) return reply;
      reply.body.resume();
      path = `${next.pathname}${next.search}`;
    }
  }

  private async send({ operation, method, body, signal }: Exchange, path: string): Promise<Reply> {
    try {
      const {
        statusCode,
        headers,
        body: stream,
      } = await this.pool.request({
        path,
        method,
        headers: {
          authorization: `Bearer ${this.token}`,
          accept: 'application/json, application/pdf',
          'user-agent': 'caretaker',
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        ...(signal ? { signal } : {}),
      });
      return {
        status: statusCode,
        header(name) {
          const value = headers[name];
          return Array.isArray(value) ? value[0] : value;
        },
        body: stream,
      };
    } catch (error) {
      if (signal?.aborted) throw error;
      const code = systemCodeOf(error);
      const sent = code === undefined || !neverSent.has(code);
      throw new UnavailableError(operation, sent, code ? plainly(code, error) : messageOf(error), {
        cause: error,
      });
    }
  }

  /** Ends idle connections now and busy ones when their answer is in. */
  close(): Promise<void> {
    return this.pool.close();
  }
}

function plainly(code: string, error: unknown): string {
  if (code === 'ECONNREFUSED') return 'nothing listens there (connection refused)';
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') return 'its host name is not known';
  if (code === 'UND_ERR_CONNECT_TIMEOUT') return `no connection within ${CONNECT_MS / 1000} s`;
  if (code === 'UND_ERR_HEADERS_TIMEOUT') return `no answer within ${HEADERS_MS / 1000} s`;
  if (code === 'UND_ERR_BODY_TIMEOUT') return `the answer stopped coming for ${BODY_MS / 1000} s`;
  if (code === 'ECONNRESET' || code === 'UND_ERR_SOCKET') return 'the connection was cut';
  return messageOf(error);
}

/**
 * Reads a whole JSON or text body of bounded size.
 *
 * @throws {UnavailableError} when the body is cut, too large, or not JSON although `json` was asked for.
 */
export async function readBody(
  operation: OperationId,
  { status, body }: Reply,
  form: 'json' | 'text',
): Promise<unknown> {
  const unreadable = (why: string, cause?: unknown) =>
    new UnavailableError(operation, true, why, { status, ...(cause === undefined ? {} : { cause }) });
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of body) {
      const bytes: Buffer = Buffer.isBuffer(chunk) ? chunk : Buffer.from(chunk);
      size += bytes.length;
      if (size > MAX_BODY_BYTES) break;
      chunks.push(bytes);
    }
  } catch (error) {
    throw unreadable(plainly(systemCodeOf(error) ?? '', error), error);
  }
  if (size > MAX_BODY_BYTES)
    throw unreadable(`its answer is larger than ${MAX_BODY_BYTES / 1024 / 1024} MiB`);
  const text = Buffer.concat(chunks).toString('utf8');
  if (form === 'text') return text;
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    throw unreadable('its answer is not JSON', error);
  }
}
