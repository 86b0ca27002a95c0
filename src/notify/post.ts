/** One attempt by HTTP POST over undici: its time limits, and what the answer means. */
import { lookup } from 'node:dns';
import { createRequire } from 'node:module';
import type { Dispatcher } from 'undici';
import { messageOf, systemCodeOf } from '../errors.ts';
import type { NewDelivery } from '../records/delivery-store.ts';
import { type Channels, isNear } from '../settings/channels.ts';
import { visibleJson } from '../text.ts';

// The interface of a kind of channel: one function that attempts a delivery once.

/** Every kind of channel that gets messages. */
export type Kind = Exclude<keyof Channels, 'heartbeat'>;

/**
 * The result of an attempt. A later attempt may help when it `failed`, not when it was `rejected`. `status`: of the
 * answer, by HTTP. `retryAfterMs`: how long the receiver asks to be left alone. `why` of one that was delivered: who does
 * not get it nevertheless.
 */
export type Sent =
  | { is: 'delivered'; why?: string; status?: number }
  | { is: 'rejected'; why: string; status?: number }
  | { is: 'failed'; why: string; status?: number; retryAfterMs?: number };

export interface Tools {
  now: number;
  dispatcher: Dispatcher;
}

/** Attempts a delivery once, within 30 s. Never rejects. */
export type Send<K extends Kind> = (
  delivery: NewDelivery,
  settings: NonNullable<Channels[K]>,
  tools: Tools,
) => Promise<Sent>;

/** undici is loaded for the first message, because a daemon is ready sooner without it. */
const require = createRequire(import.meta.url);
const undici = () => require('undici') as typeof import('undici');

const CONNECT_TIMEOUT_MS = 5_000;
const RESPONSE_TIMEOUT_MS = 10_000;
/** The whole attempt, with the answer's body. */
const ATTEMPT_TIMEOUT_MS = 20_000;
/** Only the status matters. After so much of a body the connection is closed. */
const MAX_BODY_BYTES = 16 * 1024;

export interface PostRequest {
  url: string;
  headers: Record<string, string>;
  body: string;
}

const LEADS_HERE =
  'its host name leads to this machine or a link-local address, and it has no "allow_private: true"';

/**
 * Connections to receivers. None is kept open, since messages are rare. A name that leads to this machine, or to a
 * link-local address, is refused when it is resolved for the connection, unless `mayBeNear`. Addresses that are
 * written as such are refused with the settings.
 */
export const openConnections = (mayBeNear: (host: string) => boolean): Dispatcher =>
  new (undici().Agent)({
    pipelining: 0,
    connect: {
      timeout: CONNECT_TIMEOUT_MS,
      lookup: (host, options, done) =>
        lookup(host, options, (error, found, family) => {
          const addresses = Array.isArray(found) ? found.map(({ address }) => address) : [found];
          const isRefused = !error && !mayBeNear(host) && addresses.some(isNear);
          done(isRefused ? new Error(LEADS_HERE) : error, found, family);
        }),
    },
    headersTimeout: RESPONSE_TIMEOUT_MS,
    bodyTimeout: RESPONSE_TIMEOUT_MS,
  });

/** Sends once. Never rejects, follows no redirect, and ends within 20 s. */
export async function post(
  { url, headers, body }: PostRequest,
  { dispatcher, now }: { dispatcher: Dispatcher; now: number },
): Promise<Sent> {
  try {
    const signal = AbortSignal.timeout(ATTEMPT_TIMEOUT_MS);
    const answer = await undici().request(url, { method: 'POST', headers, body, dispatcher, signal });
    // The body does not matter, even when it is cut or too long.
    await answer.body.dump({ limit: MAX_BODY_BYTES, signal }).catch(() => undefined);
    return meaningOf(answer.statusCode, retryAfterMs(answer.headers['retry-after'], now));
  } catch (error) {
    return { is: 'failed', why: whyNoAnswer(error) };
  }
}

/** The same with a value as JSON. */
export const postJson = (
  url: string,
  value: object,
  tools: { dispatcher: Dispatcher; now: number },
  headers: Record<string, string> = {},
): Promise<Sent> => {
  const known = { 'content-type': 'application/json', 'user-agent': 'caretaker' };
  return post({ url, headers: { ...known, ...headers }, body: visibleJson(value) }, tools);
};

/** Requests an address by GET; true when it answered with success. Never rejects, and ends within 20 s. */
export async function ping(url: string, dispatcher: Dispatcher): Promise<boolean> {
  try {
    const signal = AbortSignal.timeout(ATTEMPT_TIMEOUT_MS);
    const headers = { 'user-agent': 'caretaker' };
    const answer = await undici().request(url, { method: 'GET', headers, dispatcher, signal });
    await answer.body.dump({ limit: MAX_BODY_BYTES, signal }).catch(() => undefined);
    return answer.statusCode < 300;
  } catch {
    return false;
  }
}

function meaningOf(status: number, retryAfter: number | undefined): Sent {
  if (status >= 200 && status < 300) return { is: 'delivered', status };
  const why = `it answered with HTTP ${status}`;
  const isTemporary = status >= 500 || status === 429 || status === 408;
  if (!isTemporary) return { is: 'rejected', why, status };
  return { is: 'failed', why, status, ...(retryAfter === undefined ? {} : { retryAfterMs: retryAfter }) };
}

/** `Retry-After` is a number of seconds, or a date. */
function retryAfterMs(header: string | string[] | undefined, now: number): number | undefined {
  if (typeof header !== 'string') return undefined;
  if (/^\s*\d{1,9}\s*$/.test(header)) return Number(header) * 1000;
  const at = Date.parse(header);
  return Number.isNaN(at) ? undefined : Math.max(0, at - now);
}

/** Why there was no answer, without the address: it may contain a secret. */
function whyNoAnswer(error: unknown): string {
  const code = systemCodeOf(error);
  if (code === 'ECONNREFUSED') return 'nothing listens there (connection refused)';
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') return 'its host name is not known';
  if (code === 'UND_ERR_CONNECT_TIMEOUT') return `no connection within ${CONNECT_TIMEOUT_MS / 1000} s`;
  if (code === 'UND_ERR_HEADERS_TIMEOUT') return `no answer within ${RESPONSE_TIMEOUT_MS / 1000} s`;
  if (code === 'ECONNRESET' || code === 'UND_ERR_SOCKET') return 'the connection was cut';
  return code ?? messageOf(error);
}
