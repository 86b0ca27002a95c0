/**
 * The meaning of the service's answers: the body of a success, the status of any answer, and the message of
 * an error.
 *
 * A body is first read exactly as the spec has it. Only if that fails it is read leniently, and every
 * deviation is reported as drift: the service may change before we do, and runs must continue.
 */
import { z } from 'zod';
import { CaretakerError } from '../errors.ts';
import { isHolder, sayIssue, writePath } from '../schema-issue.ts';
import { scrubForeign } from '../secrets.ts';
import { type Answer, type OperationId, operationOf } from './operations.ts';
import { complete, readLeniently } from './schema.ts';

// Extracts texts and codes from error bodies. Their structure is not specified (spec 7), so this looks in the
// usual places, in JSON of any shape or in a text.

/** The rest is ignored: an error page can have any size. */
const MAX_TEXT = 20_000;
const MAX_DEPTH = 5;

/** Fields that contain a message. In a map from fields to errors, fields may have the same names. */
const sentenceNames = ['message', 'detail', 'error_description'];
/**
 * Fields that contain nested errors. A text in them is a message, or only a code or the name of the status.
 */
const holderNames = ['error', 'errors', 'details'];

/** Every message in an error body, in order. */
export function sentencesIn(value: unknown, depth = 0): string[] {
  if (typeof value === 'string') return [plain(value)].filter((text) => text !== '');
  if (!isHolder(value) || depth > MAX_DEPTH) return [];
  if (Array.isArray(value)) return value.slice(0, 20).flatMap((one) => sentencesIn(one, depth + 1));
  const fields = value as Record<string, unknown>;
  const holders = holderNames.filter((name) => Object.hasOwn(fields, name));
  const messages = [
    ...sentenceNames.filter((name) => typeof fields[name] === 'string'),
    ...holders.filter((name) => typeof fields[name] !== 'string'),
  ].flatMap((name) => sentencesIn(fields[name], depth + 1));
  if (messages.length > 0) return messages;
  // Otherwise, use a short name of the error, or its code.
  const named = ['title', 'reason', ...holders].filter((name) => typeof fields[name] === 'string');
  if (named.length > 0) return named.flatMap((name) => sentencesIn(fields[name], depth + 1));
  // Without a known field, it may be a map from fields to their errors.
  return depth === 0 || holders.length > 0 ? [] : faultsByField(fields, depth);
}

/** Joins messages into one text. */
export const joined = (sentences: readonly string[]): string =>
  sentences.reduce(
    (text, next) => (text === '' ? next : `${text}${/[.!?]$/.test(text) ? '' : ';'} ${next}`),
    '',
  );

const faultsByField = (value: object, depth: number): string[] =>
  Object.entries(value)
    .filter(([field, faults]) => field !== 'code' && isHolder(faults))
    .slice(0, 20)
    .flatMap(([field, faults]) =>
      sentencesIn(faults, depth + 1).map((fault) => scrubForeign(`${field}: ${fault}`)),
    );

/**
 * One line of text without secrets; of an HTML page, its title and its text. Secrets are removed before and
 * after, because tags, truncation and entities can hide the pattern of a secret.
 */
function plain(text: string): string {
  const bounded = scrubForeign(text.slice(0, MAX_TEXT));
  const title = oneLine(/<title>([^<]*)<\/title>/i.exec(bounded)?.[1] ?? '');
  const shown = scrubForeign(oneLine(visibleText(bounded)));
  // A title that is only the name of the status adds nothing, and often the text repeats it.
  const isRedundant = shown !== '' && (/^(?:error\b|\d{3}\b)/i.test(title) || shown.includes(title));
  return joined([isRedundant ? '' : title, shown].filter((one) => one !== ''));
}

/** The visible text of a page: without tags, head, scripts and styles. */
function visibleText(text: string): string {
  let isHidden = false;
  let shown = '';
  for (const [index, piece] of text.split(/<(\/?)(?:head|script|style)\b[^<>]*>/i).entries()) {
    if (index % 2 === 1) isHidden = piece === '';
    else if (!isHidden) shown += piece;
  }
  return shown.replace(/<[^<>]*>/g, ' ');
}

const entities: Readonly<Record<string, string>> = {
  '&lt;': '<',
  '&gt;': '>',
  '&quot;': '"',
  '&#39;': "'",
  '&nbsp;': ' ',
  '&amp;': '&',
};

const oneLine = (text: string): string =>
  text
    .replace(/&(?:lt|gt|quot|#39|nbsp|amp);/g, (entity) => entities[entity] ?? entity)
    .replace(/\s+/g, ' ')
    .trim();

/** The error code in an error body, if there is one. */
export function codeIn(value: unknown, depth = 0): string | undefined {
  if (!isHolder(value) || depth > MAX_DEPTH) return undefined;
  if (Array.isArray(value)) return codeIn(value[0], depth + 1);
  const { code, error_code, error, errors } = value as Record<string, unknown>;
  // `error` often contains a message instead of a code. A code of several words has underscores.
  const candidates = [code, error_code, typeof error === 'string' && error.includes('_') ? error : undefined];
  const own = candidates.find((one) => typeof one === 'string' && /^[\w.-]{1,100}$/.test(one));
  return typeof own === 'string' ? own : (codeIn(error, depth + 1) ?? codeIn(errors, depth + 1));
}

/** One place where an answer differs from the spec. */
export interface Drift {
  operation: OperationId;
  /** The exact place: `sites[3].wp.core`. */
  path: string;
  /** The place without indexes, the same for every item of a list. Drift is counted by it. */
  field: string;
  /** How it differs: `is missing`, `is not a string`. */
  message: string;
}

/** A field that our code needs is missing or wrong in an answer. */
export class ContractError extends CaretakerError {
  readonly code: 'CONTRACT_BROKEN' | 'INCOMPLETE_LIST' = 'CONTRACT_BROKEN';

  constructor(
    readonly operation: OperationId,
    readonly path: string,
    deviation: string,
  ) {
    super(`${operation} answered something we cannot use: ${path || 'the body'} ${deviation}.`);
  }
}

/**
 * Reads the JSON body of a success and keeps everything that can be used.
 *
 * A wrong value is dropped together with the nearest optional field around it, so the result always has its
 * declared type. `undefined` for operations that return nothing or a PDF.
 *
 * @throws {ContractError} when a needed field is missing or wrong.
 */
export function readAnswer<Id extends OperationId>(
  id: Id,
  body: unknown,
): { value: Answer<Id>; drift: Drift[] } {
  const { answer } = operationOf(id);
  if (!answer) return { value: undefined as Answer<Id>, drift: [] };
  const whole = complete(answer).safeParse(body);
  if (whole.success) return { value: whole.data as Answer<Id>, drift: [] };
  const drift = whole.error.issues.map((issue) => ({
    operation: id,
    path: writePath(issue.path),
    field: writePath(issue.path.map((key) => (typeof key === 'number' ? '*' : key))),
    message: sayIssue(issue, body),
  }));
  const rest = readLeniently(answer, body);
  if ('broken' in rest) throw new ContractError(id, writePath(rest.broken.path), sayIssue(rest.broken, body));
  return { value: rest.value as Answer<Id>, drift };
}

/**
 * Whether the JSON body of a success has none of the operation's fields, so it does not come from the
 * service.
 */
export function isForeign(id: OperationId, body: unknown): boolean {
  const { answer } = operationOf(id);
  if (!(answer instanceof z.ZodObject)) return false;
  const names = Object.keys(answer.shape);
  return !isHolder(body) || !names.some((name) => Object.hasOwn(body, name));
}

/** The meaning of an answer's status, for all operations. */
export type Meaning =
  | 'ok'
  /** The request is not accepted: sending it again gives the same answer. */
  | 'rejected'
  /** The account refuses access. */
  | 'refused'
  | 'gone'
  /** Another change that excludes this one is in progress. */
  | 'conflict'
  | 'rate-limited'
  /** The result is unknown. For changes, it is unknown whether they happened. */
  | 'unavailable'
  | 'redirected';

const meanings: Readonly<Record<number, Meaning>> = {
  401: 'refused',
  403: 'refused',
  404: 'gone',
  // From a proxy, or to be sent again unchanged.
  407: 'unavailable',
  408: 'unavailable',
  409: 'conflict',
  410: 'gone',
  421: 'unavailable',
  425: 'unavailable',
  429: 'rate-limited',
};

/** The meaning of an HTTP status (spec 7). */
export function meaningOf(status: number): Meaning {
  if (status >= 200 && status < 300) return 'ok';
  if (status >= 300 && status < 400) return 'redirected';
  return meanings[status] ?? (status >= 400 && status < 500 ? 'rejected' : 'unavailable');
}

/** An error body, as far as it could be interpreted. */
export interface Problem {
  /** The service's own error code, if there is one. */
  code?: string;
  /** A text for people, of at most 500 characters; empty when the body has none. */
  message: string;
}

/** The maximum length of a message that is passed on. */
const MAX_MESSAGE = 500;

/** Extracts a message and a code from an error body: parsed JSON of any shape, or a text. Never throws. */
export function problemOf(body: unknown): Problem {
  const message = joined([...new Set(sentencesIn(body))]).slice(0, MAX_MESSAGE);
  const code = codeIn(body);
  return code === undefined ? { message } : { code, message };
}

/** Causes of a refusal for which jobs skip a target instead of failing it. */
export type Refusal = 'daily-limit' | 'maintenance' | 'not-eligible';

const refusalCodes: ReadonlyMap<string | undefined, Refusal> = new Map([
  ['daily_sync_limit_reached', 'daily-limit'],
  ['site_under_maintenance', 'maintenance'],
  ['site_disconnected', 'not-eligible'],
  ['site_locked', 'not-eligible'],
]);

/**
 * The known cause of a 409 or 422, by its code or, since the codes are not specified, by its text;
 * `undefined` for other causes.
 */
export function refusalOf(problem: Problem): Refusal | undefined {
  const known = refusalCodes.get(problem.code);
  if (known) return known;
  const words = `${problem.code ?? ''} ${problem.message}`.toLowerCase();
  if ((words.includes('daily') && words.includes('limit')) || /\bsyncs? (?:a|per) day\b/.test(words))
    return 'daily-limit';
  if (words.includes('maintenance')) return 'maintenance';
  // Only for the site itself: a disconnected destination is an error in the policy.
  return /\bsite (?:\S+ )?is (?:disconnected|not connected|locked)\b/.test(words)
    ? 'not-eligible'
    : undefined;
}
