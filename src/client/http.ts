/**
 * One HTTP exchange with the service over undici: where the token is sent, how long to wait, how much to
 * read. `client.ts` decides what a status means.
 */
import { Readable } from 'node:stream';
import type { Dispatcher } from 'undici';
import type { OperationId } from '../contract/operations.ts';
import { messageOf, systemCodeOf } from '../errors.ts';
import { asPdf, decoded, EncodingError, PdfError } from './body.ts';
import { LateError, NotTheServiceError, RedirectedError, UnavailableError } from './errors.ts';
import { openPool } from './pool.ts';

/** The largest JSON body that is read. A page of 100 sites has about 65 kB. */
const MAX_BODY_BYTES = 10 * 1024 * 1024;
const CONNECT_TIMEOUT_MS = 5_000;
/** The maximum time until an answer begins, and between two parts of it. */
const RESPONSE_TIMEOUT_MS = 30_000;

/** Redirect statuses that are followed for reads. */
const redirects = new Set([301, 302, 303, 307, 308]);

/** System calls that fail only before a connection exists. */
const connecting = new Set(['connect', 'getaddrinfo']);
/** Error codes without such a system call that also occur only before the first byte is sent. */
const neverSent = new Set(['UND_ERR_CONNECT_TIMEOUT', 'UND_ERR_INVALID_ARG']);
/** The certificate was signed by an unknown authority. */
const unknownAuthority = new Set([
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
]);
/** Other certificate errors. Like those above, they occur before the first byte of a request is sent. */
const badCertificate = new Set(['ERR_TLS_CERT_ALTNAME_INVALID', 'CERT_HAS_EXPIRED', 'CERT_NOT_YET_VALID']);

export interface Exchange {
  operation: OperationId;
  method: 'GET' | 'POST' | 'DELETE';
  /** Path and query of the request. */
  path: string;
  body?: unknown;
  signal?: AbortSignal | undefined;
  /** The maximum time until the answer begins, and between two parts of it. Default 30 s. */
  answerWithinMs?: number;
  /** Called directly before the first byte. If it returns true, nothing is sent. */
  isLate?: (() => boolean) | undefined;
}

export interface Reply {
  status: number;
  header(name: string): string | undefined;
  /** All values of a header that was sent more than once or holds a list. */
  values(name: string): string[];
  body: BodyReadable;
  /** The maximum pause in the body. */
  answerWithinMs: number;
}

/** The body type of undici, which can also be discarded. */
type BodyReadable = Dispatcher.ResponseData['body'];

/** A keep-alive connection pool to one account's base URL, with its token. */
export class Connection {
  private pool: Dispatcher | undefined;
  private readonly base: URL;
  private readonly token: string;
  /** Whether the service has answered at this base URL. If so, errors are not caused by a wrong base URL. */
  private isRecognised = false;

  constructor(private readonly account: { name: string; baseUrl: string; token: string }) {
    this.base = new URL(account.baseUrl);
    this.token = account.token;
  }

  /**
   * The connections, opened by the first call. A sender calls it before its request is granted and its intent
   * recorded: the first call takes a tenth of a second.
   */
  open(): Dispatcher {
    this.pool ??= openPool(this.base.origin, CONNECT_TIMEOUT_MS);
    return this.pool;
  }

  /** Where requests are sent. */
  get server(): { scheme: string; address: string; port: number } {
    const { protocol, hostname, port } = this.base;
    return {
      scheme: protocol.slice(0, -1),
      address: hostname,
      port: Number(port || (protocol === 'https:' ? 443 : 80)),
    };
  }

  /** The request path of `target`, which is relative to the base URL. */
  pathOf(target: string): string {
    return `${this.base.pathname.replace(/\/+$/, '')}${target}`;
  }

  /**
   * The path that a reply redirects a read to. Undefined when it is no redirect, when the request was a
   * change, and when it leads to another origin, where the token must not be sent.
   */
  redirectionOf({ method, path }: Exchange, reply: Reply): string | undefined {
    if (method !== 'GET' || !redirects.has(reply.status)) return undefined;
    const next = this.leadsTo(path, reply);
    return next?.origin === this.base.origin ? `${next.pathname}${next.search}` : undefined;
  }

  /**
   * Sends one request. Follows no redirect.
   *
   * @throws {NotTheServiceError} when the server speaks another protocol.
   * @throws {UnavailableError} when no answer came; `sent` shows whether the request may have arrived.
   * @throws the signal's reason when it was aborted.
   */
  async exchange(exchange: Exchange): Promise<Reply> {
    const { operation, method, path, body, signal, answerWithinMs = RESPONSE_TIMEOUT_MS } = exchange;
    let isStarted = false;
    const isLate = () => {
      const late = exchange.isLate?.() ?? false;
      isStarted = !late;
      return late;
    };
    try {
      const {
        statusCode,
        headers,
        body: stream,
      } = await this.open().request({
        path,
        method,
        headersTimeout: answerWithinMs,
        bodyTimeout: answerWithinMs,
        headers: {
          authorization: `Bearer ${this.token}`,
          accept: 'application/json, application/pdf',
          'user-agent': 'caretaker',
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        ...(signal ? { signal } : {}),
        ...{ isLate },
      });
      return {
        status: statusCode,
        header: (name) => [headers[name]].flat()[0],
        values: (name) => [headers[name] ?? []].flat().flatMap((value) => value.split(',')),
        body: stream,
        answerWithinMs,
      };
    } catch (error) {
      signal?.throwIfAborted();
      if (error instanceof LateError) throw new UnavailableError(operation, false, error.message);
      const foreign = this.isRecognised ? undefined : otherProtocol(error);
      // A TLS error alone does not show whether it occurred before or after the request was sent.
      if (foreign) throw this.notTheService(operation, isStarted, foreign, { cause: error });
      const sent = !failedBeforeSending(error);
      const why = causeOf(error, answerWithinMs, this.base.origin);
      throw new UnavailableError(operation, sent, `${why}${this.hint(error, sent)}`, { cause: error });
    }
  }

  /** Records that the service itself has answered at the base URL. */
  recognise(): void {
    this.isRecognised = true;
  }

  /** The error for an answer that does not come from the service, but from a proxy or another server. */
  notTheService(
    operation: OperationId,
    sent: boolean,
    why: string,
    options?: ErrorOptions & { status?: number },
  ): UnavailableError {
    if (this.isRecognised) return new UnavailableError(operation, sent, why, options);
    return new NotTheServiceError(operation, this.where, sent, why, options);
  }

  /**
   * The error for a redirect that is not followed. It names the origin only, because the rest of the URL may
   * contain a secret.
   */
  redirected(operation: OperationId, { path }: Pick<Exchange, 'path'>, reply: Reply): RedirectedError {
    const origin = this.leadsTo(path, reply)?.origin;
    const elsewhere = origin === this.base.origin || origin === 'null' ? undefined : origin;
    return new RedirectedError(operation, this.where, elsewhere, reply);
  }

  private get where(): { account: string; baseUrl: string } {
    return { account: this.account.name, baseUrl: this.account.baseUrl };
  }

  /** The URL in the `Location` header. */
  private leadsTo(path: string, reply: Reply): URL | undefined {
    const location = reply.header('location') ?? '';
    const from = new URL(path, this.base);
    return location !== '' && URL.canParse(location, from.href) ? new URL(location, from) : undefined;
  }

  /** A hint for a request without an answer: check the base URL, or use TLS. */
  private hint(error: unknown, sent: boolean): string {
    const key = `accounts.${this.account.name}.base_url`;
    if (codes(error).some((code) => unknownAuthority.has(code)))
      return '; if you signed it yourself, set NODE_EXTRA_CA_CERTS to the file of your authority';
    if (this.isRecognised) return '';
    if (!sent) return `; check ${key}${this.proxyHint()}`;
    return this.base.protocol === 'http:' && wasReset(error)
      ? `; if it requires https://, change ${key}`
      : '';
  }

  /** Explains why a configured proxy is not used. */
  private proxyHint(): string {
    const name = this.base.protocol === 'https:' ? 'https_proxy' : 'http_proxy';
    const set = [name, name.toUpperCase()].find((variable) => process.env[variable]);
    return set === undefined ? '' : `; ${set} is set, but Caretaker connects directly`;
  }

  /** Closes idle connections now, and busy ones after their answer. */
  async close(): Promise<void> {
    await this.pool?.close();
  }
}

/**
 * Whether the request certainly never left. An error code alone does not prove it: an open connection can
 * also fail with `EHOSTUNREACH`.
 */
function failedBeforeSending(error: unknown): boolean {
  for (let at = error; at instanceof Error; at = at.cause) {
    if (at instanceof AggregateError && at.errors.length > 0) return at.errors.every(failedBeforeSending);
    const { code, syscall } = at as { code?: unknown; syscall?: unknown };
    if (neverSent.has(String(code)) || connecting.has(String(syscall))) return true;
  }
  return isDistrusted(error);
}

/** The codes of an error and its causes. */
function codes(error: unknown): string[] {
  if (!(error instanceof Error)) return [];
  return [String((error as { code?: unknown }).code), ...codes(error.cause)];
}

const isDistrusted = (error: unknown): boolean =>
  codes(error).some((code) => unknownAuthority.has(code) || badCertificate.has(code));

/** Whether the server speaks another protocol than base_url names: TLS instead of HTTP, or the reverse. */
function otherProtocol(error: unknown): string | undefined {
  for (let at = error; at instanceof Error; at = at.cause) {
    const code = String((at as { code?: unknown }).code);
    if (/^ERR_SSL_|^EPROTO$/.test(code))
      return 'base_url has https://, and the server there does not use TLS';
    if (at.name === 'HTTPParserError')
      return 'base_url has http://, and the server there does not use plain HTTP';
  }
  return undefined;
}

function causeOf(error: unknown, answerWithinMs: number, origin = 'it'): string {
  if (error instanceof EncodingError || error instanceof PdfError) return error.message;
  const code = systemCodeOf(error);
  if (code === 'ECONNREFUSED') return `nothing listens at ${origin} (connection refused)`;
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') return `the host name of ${origin} is not known`;
  if (code === 'UND_ERR_CONNECT_TIMEOUT')
    return `no connection to ${origin} within ${CONNECT_TIMEOUT_MS / 1000} s`;
  if (code === 'UND_ERR_HEADERS_TIMEOUT') return `no answer within ${answerWithinMs / 1000} s`;
  if (code === 'UND_ERR_BODY_TIMEOUT') return `the answer stalled for ${answerWithinMs / 1000} s`;
  if (wasReset(error)) return 'the connection was cut';
  if (error instanceof Error && error.name === 'HTTPParserError') return 'its answer is not valid HTTP';
  if (isDistrusted(error)) return `the certificate of ${origin} cannot be trusted (${messageOf(error)})`;
  return messageOf(error);
}

const wasReset = (error: unknown): boolean =>
  ['ECONNRESET', 'UND_ERR_SOCKET'].includes(systemCodeOf(error) ?? '');

/** Whether an error is one of our own timeouts while waiting for the answer. */
export const isTimeout = (error: unknown): boolean =>
  ['UND_ERR_HEADERS_TIMEOUT', 'UND_ERR_BODY_TIMEOUT'].includes(systemCodeOf(error) ?? '');

/** Whether a reply is a web page. The service answers JSON, or PDF where one was requested. */
export const isPage = ({ header }: Reply): boolean => /^text\/html\b/i.test(header('content-type') ?? '');

/** Discards a body, and closes the connection if much of the body is left. */
export function discard({ body }: Reply): void {
  void body.dump(); // dump() rejects only with a signal
}

/**
 * Reads a whole text body of limited size.
 *
 * @throws {UnavailableError} when the body is cut or too large.
 */
export async function readText(operation: OperationId, reply: Reply): Promise<string> {
  const { status, header, answerWithinMs } = reply;
  const unreadable = (why: string, cause?: unknown) =>
    new UnavailableError(operation, true, why, { status, ...(cause === undefined ? {} : { cause }) });
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const bytes of contentOf(reply)) {
      size += bytes.length;
      if (size > MAX_BODY_BYTES) break;
      chunks.push(bytes);
    }
  } catch (error) {
    throw unreadable(causeOf(error, answerWithinMs), error);
  }
  if (size > MAX_BODY_BYTES)
    throw unreadable(`its answer is larger than ${MAX_BODY_BYTES / 1024 / 1024} MiB`);
  return textOf(Buffer.concat(chunks), header('content-type'));
}

/**
 * Decodes bytes as text without a byte order mark: as UTF-8, which JSON requires, and otherwise with the
 * charset of the content type.
 */
function textOf(bytes: Buffer, contentType = ''): string {
  const [, charset] = /;\s*charset="?([\w.:-]+)/i.exec(contentType) ?? [];
  for (const label of ['utf-8', charset ?? 'utf-8']) {
    try {
      return new TextDecoder(label, { fatal: true }).decode(bytes);
    } catch {
      // Not valid in this encoding, or an unknown encoding.
    }
  }
  return new TextDecoder().decode(bytes);
}

const contentOf = ({ body, header }: Reply): AsyncGenerator<Buffer> =>
  decoded(body, header('content-encoding'));

/**
 * Streams a PDF. The stream fails with an `UnavailableError` when it is cut, stalls or is not a PDF; in the
 * last case before its first byte.
 */
export function streamPdf(operation: OperationId, reply: Reply): Readable {
  const { status, body, answerWithinMs, header } = reply;
  // With a content length, with chunks or with compression, undici or the decoder detects a body that is cut.
  const endsOpen = ['content-length', 'transfer-encoding', 'content-encoding'].every((name) => !header(name));
  async function* chunks() {
    try {
      yield* asPdf(contentOf(reply), { endsOpen });
    } catch (error) {
      throw new UnavailableError(operation, true, causeOf(error, answerWithinMs), { status, cause: error });
    }
  }
  // The iteration reports the error. Without a listener, the event would also end the process.
  body.on('error', () => undefined);
  // When the reader stops, perhaps before the first byte, the connection is released.
  return Readable.from(chunks(), { objectMode: false }).once('close', () => body.destroy());
}
