/** Applies the faults that change an answer to the answer of the service. */
import { gzipSync } from 'node:zlib';
import { z } from 'zod';
import { type OperationId, operationOf } from '../../contract/operations.ts';
import { bare, schemaUnder } from '../../contract/schema.ts';
import type { FaultKind } from '../faults.ts';
import type { Reply } from '../http/exchange.ts';
import type { Random } from '../world/numbers.ts';

// Removes fields from answers that the specification lists. Fields that our contract needs are always
// present.

/** Fields that tests remove from answers. */
export interface HiddenFields {
  /**
   * Removes these fields from all further answers of the operation. Paths start at the item: `sync`,
   * `email.recipients`, `tags.name`. Returns a function that shows them again.
   *
   * @throws {Error} for a field that the operation does not answer, or that the contract needs.
   */
  hide(operation: OperationId, ...fields: string[]): () => void;
  /** Whether any field of the operation's answers is hidden. */
  hides(operation: OperationId): boolean;
  /** Removes the hidden fields from an answer. */
  removeFrom(operation: OperationId, answer: unknown): void;
}

/** Nothing is hidden at first. */
export function createHiddenFields(): HiddenFields {
  const hidden: { operation: OperationId; path: readonly string[] }[] = [];
  return {
    hide(operation, ...fields) {
      const added = fields.map((field) => ({ operation, path: pathOf(operation, field) }));
      hidden.push(...added);
      return () => {
        for (const one of added) hidden.splice(hidden.indexOf(one), 1);
      };
    },
    hides: (operation) => hidden.some((one) => one.operation === operation),
    removeFrom(operation, answer) {
      for (const one of hidden) if (one.operation === operation) remove(answer, one.path);
    },
  };
}

/** The full path of a field, given from the body or from the item in it. */
function pathOf(operation: OperationId, field: string): readonly string[] {
  const { answer } = operationOf(operation);
  const names = field.split('.');
  const keys = answer instanceof z.ZodObject ? Object.keys(answer.shape) : [];
  const paths = [names, ...keys.map((key) => [key, ...names])];
  const found = answer && paths.find((path) => schemaAt(answer, path) !== undefined);
  if (!found) throw new Error(`${operation} does not answer "${field}".`);
  if (!(schemaAt(answer, found) instanceof z.ZodOptional))
    throw new Error(`The contract needs "${field}" in the answer of ${operation}.`);
  return found;
}

/** The schema at a path. Lists count as their items. */
function schemaAt(schema: z.core.$ZodType, path: readonly string[]): z.core.$ZodType | undefined {
  let at: z.core.$ZodType | undefined = schema;
  for (const name of path) {
    while (at && bare(at) instanceof z.ZodArray) at = schemaUnder(at, 0);
    at = at && schemaUnder(at, name);
  }
  return at;
}

function remove(value: unknown, [name = '', ...rest]: readonly string[]): void {
  if (Array.isArray(value)) {
    for (const item of value) remove(item, [name, ...rest]);
  } else if (typeof value === 'object' && value !== null) {
    if (rest.length === 0) Reflect.deleteProperty(value, name);
    else remove(Reflect.get(value, name), rest);
  }
}

/** Removes optional fields of `schema` from `value` when `leaveOut` returns true, at every level. */
export function removeOptional(
  schema: z.core.$ZodType | undefined,
  value: unknown,
  leaveOut: () => boolean,
): unknown {
  if (schema === undefined || typeof value !== 'object' || value === null) return value;
  for (const key of Object.keys(value)) {
    const field = schemaUnder(schema, key);
    if (field instanceof z.ZodOptional && leaveOut()) Reflect.deleteProperty(value, key);
    else removeOptional(field, Reflect.get(value, key), leaveOut);
  }
  return value;
}

// Writes values in other formats than the sandbox usually does.

const timestamp = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(\.\d+)?Z$/;

/** Writes each timestamp in a random format; one without milliseconds is up to a second too early. */
export function reformatTimestamps(value: unknown, random: Random): unknown {
  return mapValues(value, (one) => {
    const [, seconds, fraction = ''] = (typeof one === 'string' && timestamp.exec(one)) || [];
    if (seconds === undefined) return one;
    return seconds + random.pick([fraction, '']) + random.pick(['Z', '+00:00']);
  });
}

/** Numbers as text: all of the pagination, and about half of the others. */
export function numbersAsText(value: unknown, random: Random): unknown {
  return mapValues(value, (one, path) =>
    typeof one === 'number' && (path.includes('pagination') || random.next() < 0.5) ? String(one) : one,
  );
}

/** The same structure with every value replaced that is not an object or list. */
function mapValues(
  value: unknown,
  change: (value: unknown, path: readonly string[]) => unknown,
  path: readonly string[] = [],
): unknown {
  if (Array.isArray(value)) return value.map((item) => mapValues(item, change, path));
  if (typeof value !== 'object' || value === null) return change(value, path);
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [key, mapValues(inner, change, [...path, key])]),
  );
}

// Texts of the service that must neither reach a terminal unchanged nor be stored. All credentials are
// invented.

/** Texts that must not be found anywhere after a message with `hostileText` was received. */
export const hostileSecrets = [
  'c2l0ZTpoVW50ZXIy',
  'hunter2-in-json',
  'hunter2-in-query',
  'hunter2-in-url',
  'sso-4f1c09ab77',
  'tok-9d31e7c2aa',
  'bearer-5b6a0e91cc',
  'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJzaXRlIn0.c2lnbmF0dXJl',
  'MIIBOgIBAAJBAKj34GkxFhD9',
] as const;

const [basic, inJson, inQuery, inUrl, sso, token, bearer, jwt, pem] = hostileSecrets;

/** Terminal escapes, bidirectional and zero-width characters, and credentials in every form. */
export const hostileText = [
  '\u001b[31mred\u001b[0m \u001b[8mhidden\u001b[0m \u001b]0;title\u0007 \u009b31m bell\u0007',
  'reversed\u202etxet zero\u200bwidth\u2066isolated\u2069\ufeff',
  `Authorization: Basic ${basic}`,
  `authorization: Bearer ${bearer}`,
  `{"username":"admin","password":"${inJson}"}`,
  `https://admin:${inUrl}@site.example/login?password=${inQuery}&sso=${sso}&token=${token}`,
  jwt,
  `-----BEGIN RSA PRIVATE KEY-----\n${pem}\n-----END RSA PRIVATE KEY-----`,
].join(' ');

/** Fields of successful answers that contain a message of the service or of a site. */
const messages = new Set(['message', 'last_sync_error', 'last_error_message']);

/** Appends the hostile text to every message in a JSON value. */
export const makeHostile = (value: unknown): unknown =>
  JSON.parse(JSON.stringify(value), (key, one: unknown) =>
    messages.has(key) && typeof one === 'string' ? `${one} ${hostileText}` : one,
  );

// Answers of a service that is newer than its callers.

/** Fields whose enums may get new values. */
const enumFields = new Set([
  'status',
  'type',
  'role',
  'provider',
  'object_type',
  'event_type',
  'last_sync_status',
]);

/**
 * Adds an unknown field to every object of the answer, and replaces its first enum value with an unknown one.
 */
export function addUnknownValues(answer: unknown): unknown {
  let isEnumChanged = false;
  const text = JSON.stringify(answer, (key, value: unknown) => {
    if (!isEnumChanged && enumFields.has(key) && typeof value === 'string') {
      isEnumChanged = true;
      return 'introduced_later';
    }
    if (key === 'introduced_later' || typeof value !== 'object' || value === null || Array.isArray(value))
      return value;
    return { ...value, introduced_later: { since: '6.1.0' } };
  });
  return JSON.parse(text);
}

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
