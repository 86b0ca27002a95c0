/** One delivery by HTTP POST over undici: its time limits, and what the answer means. */
import { Agent, type Dispatcher, request } from 'undici';
import { messageOf, systemCodeOf } from '../errors.ts';

const CONNECT_TIMEOUT_MS = 5_000;
const RESPONSE_TIMEOUT_MS = 10_000;
/** The whole delivery, with the answer's body. */
const DELIVERY_TIMEOUT_MS = 20_000;
/** Only the status matters. After so much of a body the connection is closed. */
const MAX_BODY_BYTES = 16 * 1024;

/** The result of a delivery. A retry may help when it `failed`, not when it was `rejected`. */
export type Delivery = { is: 'delivered' } | { is: 'rejected'; why: string } | { is: 'failed'; why: string };

export interface PostRequest {
  url: string;
  headers: Record<string, string>;
  body: string;
}

/** Connections to receivers. None is kept open, since messages are rare. */
export const openConnections = (): Dispatcher =>
  new Agent({
    pipelining: 0,
    connect: { timeout: CONNECT_TIMEOUT_MS },
    headersTimeout: RESPONSE_TIMEOUT_MS,
    bodyTimeout: RESPONSE_TIMEOUT_MS,
  });

/** Sends once. Never rejects, follows no redirect, and ends within 20 s. */
export async function post({ url, headers, body }: PostRequest, dispatcher: Dispatcher): Promise<Delivery> {
  try {
    const signal = AbortSignal.timeout(DELIVERY_TIMEOUT_MS);
    const answer = await request(url, { method: 'POST', headers, body, dispatcher, signal });
    // The body does not matter, even when it is cut or too long.
    await answer.body.dump({ limit: MAX_BODY_BYTES, signal }).catch(() => undefined);
    return meaningOf(answer.statusCode);
  } catch (error) {
    return { is: 'failed', why: whyNoAnswer(error) };
  }
}

function meaningOf(status: number): Delivery {
  if (status >= 200 && status < 300) return { is: 'delivered' };
  const isTemporary = status >= 500 || status === 429 || status === 408;
  return { is: isTemporary ? 'failed' : 'rejected', why: `it answered with HTTP ${status}` };
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
