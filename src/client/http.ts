/**
 * One HTTP exchange with the service over undici: where the token goes, how long we wait, how much we read.
 * What a status means is decided above, in `client.ts`.
 */
import type { IncomingHttpHeaders } from 'node:http';
import { Readable } from 'node:stream';
import { DecoratorHandler, type Dispatcher, Pool } from 'undici';
import type { OperationId } from '../contract/operations.ts';
import { messageOf, systemCodeOf } from '../errors.ts';
import { decoded, EncodingError } from './encoding.ts';
import { NotTheServiceError, RedirectedError, UnavailableError } from './errors.ts';
import { asPdf, PdfError } from './pdf.ts';

/** The largest JSON body that is read; a page of 100 sites has about 65 kB. */
const MAX_BODY_BYTES = 10 * 1024 * 1024;
const CONNECT_TIMEOUT_MS = 5_000;
/** How long an answer may take to begin, and then to go on. */
const RESPONSE_TIMEOUT_MS = 30_000;

/** Redirects that keep a read a read. */
const redirects = new Set([301, 302, 303, 307, 308]);

/** The system calls that fail while there is no connection yet. */
const connecting = new Set(['connect', 'getaddrinfo']);
/** Failures without such a call that still come before the first byte of a request is sent. */
const neverSent = new Set(['UND_ERR_CONNECT_TIMEOUT', 'UND_ERR_INVALID_ARG']);
/** Nobody that we know vouches for the certificate. */
const unknownAuthority = new Set([
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
]);
/**
 * What else is wrong with a certificate; like the others it is found before the first byte of a request is
 * sent.
 */
const badCertificate = new Set(['ERR_TLS_CERT_ALTNAME_INVALID', 'CERT_HAS_EXPIRED', 'CERT_NOT_YET_VALID']);

export interface Exchange {
  operation: OperationId;
  method: 'GET' | 'POST' | 'DELETE';
  /** Path and query, as they stand in the request. */
  path: string;
  body?: unknown;
  signal?: AbortSignal | undefined;
  /** How long the answer may take to begin, and then to go on; default 30 s. */
  answerWithinMs?: number;
  /** Asked directly before the first byte: when it holds, nothing is sent. */
  isLate?: (() => boolean) | undefined;
}

/** A process that was held up sends nothing late: others may be at work on the same thing by then. */
class LateError extends Error {
  override readonly message = 'this process was held up, and did not send the request late';
}

/** Between a request and its connection, which may take its time to open. */
class Guard extends DecoratorHandler implements Dispatcher.DispatchHandler {
  constructor(
    private readonly handler: Dispatcher.DispatchHandler,
    private readonly isLate: () => boolean,
  ) {
    super(handler);
  }

  onRequestStart(controller: Dispatcher.DispatchController, context: unknown): void {
    if (this.isLate()) throw new LateError();
    this.handler.onRequestStart?.(controller, context);
  }

  /**
   * Hints that come before an answer (1xx) are none: passed on, the answer after them would be taken for a
   * second one.
   */
  onResponseStart(
    controller: Dispatcher.DispatchController,
    status: number,
    headers: IncomingHttpHeaders,
    statusMessage?: string,
  ): void {
    if (status >= 200) this.handler.onResponseStart?.(controller, status, headers, statusMessage);
  }
}

const guarded: Dispatcher.DispatcherComposeInterceptor = (dispatch) => (options, handler) => {
  const { isLate } = options as Pick<Exchange, 'isLate'>;
  return dispatch(options, isLate ? new Guard(handler, isLate) : handler);
};

export interface Reply {
  status: number;
  header(name: string): string | undefined;
  /** Every value of a header that came more than once, or holds several. */
  values(name: string): string[];
  body: BodyReadable;
  /** How long the body may stop coming. */
  answerWithinMs: number;
}

/** A body as undici gives it, which can also be thrown away. */
type BodyReadable = Dispatcher.ResponseData['body'];

/** A keep-alive connection pool to one account's base URL, with its token. */
export class Connection {
  private readonly pool: Dispatcher;
  private readonly base: URL;
  private readonly token: string;
  /** Whether the service has answered here: then no wrong base URL is the cause of what comes back. */
  private isRecognised = false;

  constructor(private readonly account: { name: string; baseUrl: string; token: string }) {
    this.base = new URL(account.baseUrl);
    this.token = account.token;
    this.pool = new Pool(this.base.origin, {
      // More than anybody has under way at once: a request that was let go must not wait in a queue of the
      // pool.
      connections: 512,
      connect: { timeout: CONNECT_TIMEOUT_MS },
    }).compose(guarded);
  }

  /** What `target`, relative to the base URL, is as the path of a request. */
  pathOf(target: string): string {
    return `${this.base.pathname.replace(/\/+$/, '')}${target}`;
  }

  /**
   * The path that a reply redirects a read to; nothing when it does not, when a change was asked for, and
   * when it leads to another origin: the token stays home.
   */
  redirectionOf({ method, path }: Exchange, reply: Reply): string | undefined {
    if (method !== 'GET' || !redirects.has(reply.status)) return undefined;
    const next = this.leadsTo(path, reply);
    return next?.origin === this.base.origin ? `${next.pathname}${next.search}` : undefined;
  }

  /**
   * Sends one request, and follows no redirect.
   *
   * @throws {NotTheServiceError} when what listens there speaks another protocol.
   * @throws {UnavailableError} when no answer came; its `sent` says whether the request may have arrived.
   * @throws the signal's reason when it was aborted.
   */
  async exchange(exchange: Exchange): Promise<Reply> {
    const { operation, method, path, body, signal, answerWithinMs = RESPONSE_TIMEOUT_MS } = exchange;
    let isBegun = false;
    const isLate = () => {
      const late = exchange.isLate?.() ?? false;
      isBegun = !late;
      return late;
    };
    try {
      const {
        statusCode,
        headers,
        body: stream,
      } = await this.pool.request({
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
      // The words of TLS alone do not show whether they came before the request or after it.
      if (foreign) throw this.notTheService(operation, isBegun, foreign, { cause: error });
      const sent = !failedBeforeSending(error);
      const why = plainly(error, answerWithinMs, this.base.origin);
      throw new UnavailableError(operation, sent, `${why}${this.hint(error, sent)}`, { cause: error });
    }
  }

  /** The service itself has answered at the base URL. */
  recognise(): void {
    this.isRecognised = true;
  }

  /**
   * The error for an answer that the service would never give: from something before it, or from something
   * else.
   */
  notTheService(
    operation: OperationId,
    sent: boolean,
    why: string,
    options?: ErrorOptions & { status?: number },
  ): UnavailableError {
    if (this.isRecognised) return new UnavailableError(operation, sent, why, options);
    return new NotTheServiceError(operation, this.where, sent, why, options);
  }

  /** The error for a redirect that is not followed. Only its origin is told: the rest may hold a secret. */
  redirected(operation: OperationId, { path }: Pick<Exchange, 'path'>, reply: Reply): RedirectedError {
    const origin = this.leadsTo(path, reply)?.origin;
    const elsewhere = origin === this.base.origin || origin === 'null' ? undefined : origin;
    return new RedirectedError(operation, this.where, elsewhere, reply);
  }

  private get where(): { account: string; baseUrl: string } {
    return { account: this.account.name, baseUrl: this.account.baseUrl };
  }

  /** Where a reply points to. */
  private leadsTo(path: string, reply: Reply): URL | undefined {
    const location = reply.header('location') ?? '';
    const from = new URL(path, this.base);
    return location !== '' && URL.canParse(location, from.href) ? new URL(location, from) : undefined;
  }

  /** What to look at when nothing came back: nobody is there, or TLS was expected and so the line was cut. */
  private hint(error: unknown, sent: boolean): string {
    const key = `accounts.${this.account.name}.base_url`;
    if (codes(error).some((code) => unknownAuthority.has(code)))
      return '; where it is one of your own, name the file of its authority in NODE_EXTRA_CA_CERTS';
    if (this.isRecognised) return '';
    if (!sent) return `; check ${key}${this.proxyHint()}`;
    return this.base.protocol === 'http:' && wasCut(error) ? `; if it wants https://, say so in ${key}` : '';
  }

  /** Somebody who set a proxy may wonder why it is not asked. */
  private proxyHint(): string {
    const name = this.base.protocol === 'https:' ? 'https_proxy' : 'http_proxy';
    const set = [name, name.toUpperCase()].find((variable) => process.env[variable]);
    return set === undefined ? '' : `; ${set} is set, but the service is asked directly`;
  }

  /** Ends idle connections now and busy ones when their answer is in. */
  close(): Promise<void> {
    return this.pool.close();
  }
}

/**
 * Whether the request provably never left. A code alone does not prove it: a connection that was open can
 * also end with `EHOSTUNREACH`.
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

/**
 * Whether the other side speaks something else than base_url says: TLS where HTTP was meant, or the other way
 * round.
 */
function otherProtocol(error: unknown): string | undefined {
  for (let at = error; at instanceof Error; at = at.cause) {
    const code = String((at as { code?: unknown }).code);
    if (/^ERR_SSL_|^EPROTO$/.test(code))
      return 'base_url says https://, and what listens there does not speak it';
    if (at.name === 'HTTPParserError')
      return 'base_url says http://, and what listens there does not speak it';
  }
  return undefined;
}

function plainly(error: unknown, answerWithinMs: number, origin = 'it'): string {
  if (error instanceof EncodingError || error instanceof PdfError) return error.message;
  const code = systemCodeOf(error);
  if (code === 'ECONNREFUSED') return `nothing listens at ${origin} (connection refused)`;
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') return `the host name of ${origin} is not known`;
  if (code === 'UND_ERR_CONNECT_TIMEOUT')
    return `no connection to ${origin} within ${CONNECT_TIMEOUT_MS / 1000} s`;
  if (code === 'UND_ERR_HEADERS_TIMEOUT') return `no answer within ${answerWithinMs / 1000} s`;
  if (code === 'UND_ERR_BODY_TIMEOUT') return `the answer stopped coming for ${answerWithinMs / 1000} s`;
  if (wasCut(error)) return 'the connection was cut';
  if (error instanceof Error && error.name === 'HTTPParserError') return 'its answer is no valid HTTP';
  if (isDistrusted(error)) return `the certificate of ${origin} cannot be trusted (${messageOf(error)})`;
  return messageOf(error);
}

const wasCut = (error: unknown): boolean =>
  ['ECONNRESET', 'UND_ERR_SOCKET'].includes(systemCodeOf(error) ?? '');

/** Whether an error says that a time limit of ours ran out while waiting for the answer. */
export const isOverdue = (error: unknown): boolean =>
  ['UND_ERR_HEADERS_TIMEOUT', 'UND_ERR_BODY_TIMEOUT'].includes(systemCodeOf(error) ?? '');

/** Whether a reply is a page for a browser: the service answers JSON, and PDF where asked for one. */
export const isPage = ({ header }: Reply): boolean => /^text\/html\b/i.test(header('content-type') ?? '');

/** Lets go of a body that nobody wants to read, and of the connection when there is much of it. */
export function discard({ body }: Reply): void {
  void body.dump(); // without a signal it never rejects
}

/**
 * Reads a whole text body of bounded size.
 *
 * @throws {UnavailableError} when the body is cut, or too large.
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
    throw unreadable(plainly(error, answerWithinMs), error);
  }
  if (size > MAX_BODY_BYTES)
    throw unreadable(`its answer is larger than ${MAX_BODY_BYTES / 1024 / 1024} MiB`);
  return textOf(Buffer.concat(chunks), header('content-type'));
}

/**
 * Bytes as text, without a byte order mark: UTF-8, as JSON has to be, or what the content type names where
 * they are not that.
 */
function textOf(bytes: Buffer, contentType = ''): string {
  const [, charset] = /;\s*charset="?([\w.:-]+)/i.exec(contentType) ?? [];
  for (const label of ['utf-8', charset ?? 'utf-8']) {
    try {
      return new TextDecoder(label, { fatal: true }).decode(bytes);
    } catch {
      // Not in this encoding, or none that is known.
    }
  }
  return new TextDecoder().decode(bytes);
}

/** A body, decompressed. */
const contentOf = ({ body, header }: Reply): AsyncGenerator<Buffer> =>
  decoded(body, header('content-encoding'));

/**
 * A PDF as it comes. It ends with an `UnavailableError` when it is cut, stops coming, or is no PDF; in the
 * last case before its first byte.
 */
export function streamPdf(operation: OperationId, reply: Reply): Readable {
  const { status, body, answerWithinMs, header } = reply;
  // A length that was told is kept to, or the connection counts as cut; so does what was sent in chunks, or
  // compressed.
  const endsOpen = ['content-length', 'transfer-encoding', 'content-encoding'].every((name) => !header(name));
  async function* chunks() {
    try {
      yield* asPdf(contentOf(reply), { endsOpen });
    } catch (error) {
      throw new UnavailableError(operation, true, plainly(error, answerWithinMs), { status, cause: error });
    }
  }
  // What goes wrong is told by the iteration; without a listener it would end the process besides.
  body.on('error', () => undefined);
  // Whoever stops reading, perhaps before the first byte, gives the connection back.
  return Readable.from(chunks(), { objectMode: false }).once('close', () => body.destroy());
}
