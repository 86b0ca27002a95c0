/** Applies the faults that change an answer to the answer of the service. */
import { gzipSync } from 'node:zlib';
import { type OperationId, operationOf } from '../../contract/operations.ts';
import type { FaultKind } from '../faults.ts';
import type { Reply } from '../http/exchange.ts';
import type { Random } from '../world/random.ts';
import { type HiddenFields, removeOptional } from './absent.ts';
import { numbersAsText, reformatTimestamps } from './formats.ts';
import { makeHostile } from './hostile.ts';
import { addUnknownValues } from './unknown-values.ts';

export const JSON_TYPE = 'application/json; charset=utf-8';
export const PDF_TYPE = 'application/pdf';
export const HTML_TYPE = 'text/html; charset=utf-8';

/** The facts about the request whose answer is changed. */
export interface Asked {
  operation: OperationId | null;
  /** Whether the request accepts gzip. */
  acceptsGzip: boolean;
}

export type AnswerChanger = (met: readonly FaultKind[], asked: Asked, answered: Reply) => Reply;

/** The fraction of optional fields that is removed. */
const ABSENT = 0.3;

/** How the faults change the JSON of a successful answer, in this order. */
const rewrites: Partial<
  Record<FaultKind, (value: unknown, operation: OperationId, random: Random) => unknown>
> = {
  'absent-fields': (value, operation, random) =>
    removeOptional(operationOf(operation).answer, value, () => random.next() < ABSENT),
  'other-timestamps': (value, _, random) => reformatTimestamps(value, random),
  'numbers-as-text': (value, _, random) => numbersAsText(value, random),
  'hostile-text': makeHostile,
  'unknown-values': addUnknownValues,
};

/** `random` decides about random changes. */
export function answerChanger(hidden: HiddenFields, random: Random): AnswerChanger {
  const rewrite = (met: readonly FaultKind[], operation: OperationId, json: string): string => {
    const rewriting = Object.entries(rewrites).filter(([kind]) => met.includes(kind as FaultKind));
    if (rewriting.length === 0 && !hidden.hides(operation)) return json;
    let value: unknown = JSON.parse(json);
    hidden.removeFrom(operation, value);
    for (const [, change] of rewriting) value = change(value, operation, random);
    return JSON.stringify(value);
  };
  return (met, { operation, acceptsGzip }, answered) => {
    let reply = answered;
    if (typeof reply.body === 'string') {
      if (reply.status >= 300) reply = rewriteError(met, reply, reply.body);
      else if (operation !== null) reply = { ...reply, body: rewrite(met, operation, reply.body) };
    }
    const compresses = met.includes('gzip') || (met.includes('gzip-accepted') && acceptsGzip);
    return compresses ? compressed(reply) : reply;
  };
}

function rewriteError(met: readonly FaultKind[], reply: Reply, json: string): Reply {
  let { error } = JSON.parse(json) as { error: { code: string; message: string } };
  if (met.includes('hostile-text')) error = makeHostile(error) as typeof error;
  if (met.includes('html-errors')) return { ...reply, body: errorPage(error.message), type: HTML_TYPE };
  const body = met.includes('other-errors') ? { message: error.message, error: error.code } : { error };
  return { ...reply, body: JSON.stringify(body) };
}

const errorPage = (message: string) =>
  `<!DOCTYPE html><html><head><title>Error</title></head><body><h1>${escaped(message)}</h1></body></html>`;

const escaped = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');

/** The same answer compressed; one without a body is not changed. */
function compressed(reply: Reply): Reply {
  if (reply.body === undefined) return reply;
  return {
    ...reply,
    headers: { ...reply.headers, 'Content-Encoding': 'gzip', Vary: 'Accept-Encoding' },
    type: reply.type ?? (typeof reply.body === 'string' ? JSON_TYPE : PDF_TYPE),
    body: gzipSync(reply.body),
  };
}
