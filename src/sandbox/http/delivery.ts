/**
 * What happens to a request with these faults: whether it is carried out, and how much of the answer is sent.
 */
import type { ServerResponse } from 'node:http';
import { HTML_TYPE, JSON_TYPE, PDF_TYPE } from '../faults/change-answer.ts';
import { type FaultKind, stopAmong } from '../faults.ts';
import type { Reply } from './exchange.ts';

export interface Delivery {
  /** The service's answer, if it handled the request: for the journal. */
  answered: Reply | undefined;
  /** The answer that is sent. */
  sent: Reply | undefined;
  /** How much of it is sent. `never`: the connection stays open without an answer. */
  arrives: 'whole' | 'half' | 'nothing' | 'never';
}

/** Answers a request, or does not, depending on its faults. `change` changes the service's own answer. */
export function deliverUnder(
  met: readonly FaultKind[],
  answerIt: () => Reply,
  change: (answered: Reply) => Reply,
): Delivery {
  const stop = stopAmong(met);
  const before = stop && beforeTheService[stop];
  if (before) return { ...before, answered: before.sent };
  const answered = answerIt();
  const changed = change(answered);
  if (stop === 'reset-after') return { answered, sent: undefined, arrives: 'nothing' };
  if (stop === 'error-after') return { answered, sent: internalError, arrives: 'whole' };
  if (stop === 'garbage' && answered.status < 300)
    return { answered, sent: page(answered), arrives: 'whole' };
  return { answered, sent: changed, arrives: stop === 'truncate' ? 'half' : 'whole' };
}

const failure = (status: number, code: string, message: string): Reply => ({
  status,
  headers: {},
  body: JSON.stringify({ error: { code, message } }),
});

const internalError = failure(500, 'internal_error', 'Something went wrong on our side.');

const html = (status: number, title: string, text: string, headers: Record<string, string> = {}): Reply => ({
  status,
  headers,
  body: `<html><head><title>${title}</title></head><body>${text}</body></html>`,
  type: HTML_TYPE,
});

const page = (answered: Reply): Reply =>
  html(answered.status, 'Please wait', 'Checking your browser', answered.headers);

const maintenance = html(503, 'Down for maintenance', 'We are back soon.', { 'Retry-After': '60' });

/** Its target and status are chosen when it is sent. */
const redirect = html(302, 'Moved', 'This is somewhere else.');

/** Faults that occur before the service handles the request, so nothing is carried out. */
const beforeTheService: Partial<Record<FaultKind, Pick<Delivery, 'sent' | 'arrives'>>> = {
  refuse: { sent: undefined, arrives: 'nothing' },
  'reset-before': { sent: undefined, arrives: 'nothing' },
  hang: { sent: undefined, arrives: 'never' },
  'status-503': { sent: failure(503, 'unavailable', 'The service is unavailable.'), arrives: 'whole' },
  'error-before': { sent: internalError, arrives: 'whole' },
  'bare-429': { sent: failure(429, 'rate_limit_exceeded', 'Too many requests.'), arrives: 'whole' },
  'html-400': { sent: html(400, 'Bad request', 'Your browser sent a bad request.'), arrives: 'whole' },
  maintenance: { sent: maintenance, arrives: 'whole' },
  redirect: { sent: redirect, arrives: 'whole' },
  'redirect-away': { sent: redirect, arrives: 'whole' },
};

/** Sends the answer, or the part of it that `arrives` allows. */
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
  const type = sent.type ?? (typeof body === 'string' ? JSON_TYPE : PDF_TYPE);
  response.writeHead(status, { ...headers, 'Content-Type': type, 'Content-Length': bytes.length });
  if (arrives === 'whole') {
    response.end(bytes);
    return;
  }
  // The header has the full length, so that the caller can detect the cut. The half must be sent before the
  // connection closes.
  response.write(bytes.subarray(0, Math.floor(bytes.length / 2)), () => response.destroy());
}
