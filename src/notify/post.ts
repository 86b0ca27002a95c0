/** One delivery of a body by HTTP POST over undici: how long we wait, and what the answer means. */
import { Agent, type Dispatcher, request } from 'undici';
import { messageOf, systemCodeOf } from '../errors.ts';

const CONNECT_TIMEOUT_MS = 5_000;
const RESPONSE_TIMEOUT_MS = 10_000;
/** The whole delivery, a body that trickles in included. */
const DELIVERY_TIMEOUT_MS = 20_000;
/** Only the status counts; so much of a body is let pass before the connection is cut. */
const MAX_BODY_BYTES = 16 * 1024;

/** What became of a delivery. Trying again helps with one that `failed`, not with one that was `refused`. */
export type Delivery = { is: 'taken' } | { is: 'refused'; why: string } | { is: 'failed'; why: string };

export interface Letter {
  url: string;
  headers: Record<string, string>;
  body: string;
}

/** Connections to receivers: a run that ended is news of the moment, so none is kept open. */
export const openConnections = (): Dispatcher =>
  new Agent({
    pipelining: 0,
    connect: { timeout: CONNECT_TIMEOUT_MS },
    headersTimeout: RESPONSE_TIMEOUT_MS,
    bodyTimeout: RESPONSE_TIMEOUT_MS,
  });

/** Posts a letter once. Never rejects, follows no redirect, and is over within 20 s. */
export async function post({ url, headers, body }: Letter, dispatcher: Dispatcher): Promise<Delivery> {
  try {
    const signal = AbortSignal.timeout(DELIVERY_TIMEOUT_MS);
    const answer = await request(url, { method: 'POST', headers, body, dispatcher, signal });
    // What follows the status changes nothing any more, even when it is cut or far too long.
    await answer.body.dump({ limit: MAX_BODY_BYTES, signal }).catch(() => undefined);
    return meaningOf(answer.statusCode);
  } catch (error) {
    return { is: 'failed', why: plainly(error) };
  }
}

function meaningOf(status: number): Delivery {
  if (status >= 200 && status < 300) return { is: 'taken' };
  const passing = status >= 500 || status === 429 || status === 408;
  return { is: passing ? 'failed' : 'refused', why: `it answered with HTTP ${status}` };
}

/** Why no answer came, without the address: it may be a secret. */
function plainly(error: unknown): string {
  const code = systemCodeOf(error);
  if (code === 'ECONNREFUSED') return 'nothing listens there (connection refused)';
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') return 'its host name is not known';
  if (code === 'UND_ERR_CONNECT_TIMEOUT') return `no connection within ${CONNECT_TIMEOUT_MS / 1000} s`;
  if (code === 'UND_ERR_HEADERS_TIMEOUT') return `no answer within ${RESPONSE_TIMEOUT_MS / 1000} s`;
  if (code === 'ECONNRESET' || code === 'UND_ERR_SOCKET') return 'the connection was cut';
  return code ?? messageOf(error);
}
