/** What becomes of a request under the faults that it meets: whether it is done at all, and what of the answer arrives. */
import type { ServerResponse } from 'node:http';
import { makeStrange } from '../faults/strange.ts';
import type { FaultKind } from '../faults.ts';
import type { Reply } from './exchange.ts';

export interface Delivery {
  /** What the service answered, if it came to look at the request: for the journal. */
  answered: Reply | undefined;
  /** What is sent. */
  sent: Reply | undefined;
  /** How much of it arrives; of nothing to send, nothing does. `never`: the caller is left waiting. */
  arrives: 'whole' | 'half' | 'nothing' | 'never';
}

const untouched: ReadonlySet<FaultKind> = new Set([
  'slow',
  'other-consumer',
  'unknown-values',
  'moving-items',
]);

/** The fault that decides: the gravest of those that do more than change or delay the answer. */
export const gravest = (met: readonly FaultKind[]): FaultKind | undefined =>
  met.find((kind) => !untouched.has(kind)) ?? met[0];

/** Answers a request, or does not, as the faults want it. */
export function deliverUnder(met: readonly FaultKind[], answerIt: () => Reply): Delivery {
  const fault = gravest(met);
  const before = fault && beforeTheService[fault];
  if (before) return { ...before, answered: before.sent };
  const answered = answerIt();
  const good = answered.status < 300;
  if (fault === 'reset-after') return { answered, sent: undefined, arrives: 'nothing' };
  if (fault === 'error-after') return { answered, sent: internalError, arrives: 'whole' };
  if (fault === 'garbage') return { answered, sent: good ? page(answered) : answered, arrives: 'whole' };
  if (fault === 'truncate') return { answered, sent: answered, arrives: 'half' };
  const isStrange = met.includes('unknown-values') && good && typeof answered.body === 'string';
  const sent = isStrange ? { ...answered, body: makeStrange(String(answered.body)) } : answered;
  return { answered, sent, arrives: 'whole' };
}

const failure = (status: number, code: string, message: string): Reply => ({
  status,
  headers: {},
  body: JSON.stringify({ error: { code, message } }),
});

const internalError = failure(500, 'internal_error', 'Something went wrong on our side.');
const HTML = 'text/html; charset=utf-8';

const maintenance: Reply = {
  status: 503,
  headers: { 'Retry-After': '60' },
  body: '<html><head><title>Down for maintenance</title></head><body>We are back soon.</body></html>',
  type: HTML,
};

const page = (answered: Reply): Reply => ({
  ...answered,
  body: '<html><head><title>Please wait</title></head><body>Checking your browser</body></html>',
  type: HTML,
});

/** Faults that strike before the service looks at the request, so that nothing is done. */
const beforeTheService: Partial<Record<FaultKind, Pick<Delivery, 'sent' | 'arrives'>>> = {
  refuse: { sent: undefined, arrives: 'nothing' },
  'reset-before': { sent: undefined, arrives: 'nothing' },
  hang: { sent: undefined, arrives: 'never' },
  'status-503': { sent: failure(503, 'unavailable', 'The service is unavailable.'), arrives: 'whole' },
  'error-before': { sent: internalError, arrives: 'whole' },
  'bare-429': { sent: failure(429, 'rate_limit_exceeded', 'Too many requests.'), arrives: 'whole' },
  maintenance: { sent: maintenance, arrives: 'whole' },
};

/** Sends what is sent, as far as it arrives. */
export function send(response: ServerResponse, { sent, arrives }: Delivery): void {
  if (arrives === 'never') return;
  if (!sent || arrives === 'nothing') {
    response.destroy();
    return;
  }
  const { status, headers, body } = sent;
  if (body === undefined) {
    if (arrives === 'half') response.destroy();
    else response.writeHead(status, headers).end();
    return;
  }
  const bytes = typeof body === 'string' ? Buffer.from(body) : body;
  const type =
    sent.type ?? (typeof body === 'string' ? 'application/json; charset=utf-8' : 'application/pdf');
  response.writeHead(status, { ...headers, 'Content-Type': type, 'Content-Length': bytes.length });
  if (arrives === 'whole') {
    response.end(bytes);
    return;
  }
  // The length is that of the whole, so that the caller can tell; the half must be out before the connection goes.
  response.write(bytes.subarray(0, Math.floor(bytes.length / 2)), () => response.destroy());
}
