/**
 * What the service's answers say: the body of a good one, the status of any, and the reason in a bad one.
 *
 * A body is first read as the spec has it. Only when that fails is it read leniently, and then every
 * deviation is told as drift: the service may change before we do, and a run must live through it.
 */
import { z } from 'zod';
import { CaretakerError } from '../errors.ts';
import { isHolder, sayIssue, writePath } from '../schema-issue.ts';
import { codeIn, joined, sentencesIn } from './error-body.ts';
import { type Answer, type OperationId, operationOf } from './operations.ts';
import { salvage } from './salvage.ts';
import { complete } from './schema.ts';

/** One place where an answer differs from the spec. */
export interface Drift {
  operation: OperationId;
  /** The very place: `sites[3].wp.core`. */
  path: string;
  /** The place without its numbers, the same for every item of a list: what drift is counted by. */
  field: string;
  /** How it differs: `is missing`, `is not a string`. */
  message: string;
}

/** An answer lacks something that our code cannot work without. */
export class ContractError extends CaretakerError {
  readonly code = 'CONTRACT_BROKEN';

  constructor(
    readonly operation: OperationId,
    readonly path: string,
    deviation: string,
  ) {
    super(`${operation} answered something we cannot use: ${path || 'the body'} ${deviation}.`);
  }
}

/**
 * Reads a good answer's JSON body, keeping whatever can be used of it.
 *
 * A wrong value is left out together with the nearest field around it that may be missing, so what comes back
 * always has its declared type. `undefined` for operations that answer nothing or a PDF.
 *
 * @throws {ContractError} when a field that we need is missing or wrong.
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
  const rest = salvage(answer, body);
  if ('broken' in rest) throw new ContractError(id, writePath(rest.broken.path), sayIssue(rest.broken, body));
  return { value: rest.value as Answer<Id>, drift };
}

/**
 * Whether a good answer's JSON body has nothing at all of what the operation answers: it is somebody else's.
 */
export function isForeign(id: OperationId, body: unknown): boolean {
  const { answer } = operationOf(id);
  if (!(answer instanceof z.ZodObject)) return false;
  const names = Object.keys(answer.shape);
  return !isHolder(body) || !names.some((name) => Object.hasOwn(body, name));
}

/** What an answer's status means to us, whatever the operation. */
export type Meaning =
  | 'ok'
  /** Not taken as it was asked: asking again in the same way is useless. */
  | 'rejected'
  /** The account no longer lets us in. */
  | 'refused'
  | 'gone'
  /** Something else is under way that excludes this. */
  | 'conflict'
  | 'rate-limited'
  /** Nothing is known about what was asked; for changes that includes whether they happened. */
  | 'unavailable'
  | 'redirected';

const meanings: Readonly<Record<number, Meaning>> = {
  401: 'refused',
  403: 'refused',
  404: 'gone',
  // From something in between, or to be sent again as it is.
  407: 'unavailable',
  408: 'unavailable',
  409: 'conflict',
  410: 'gone',
  421: 'unavailable',
  425: 'unavailable',
  429: 'rate-limited',
};

/** What an HTTP status means to us (spec 7). */
export function meaningOf(status: number): Meaning {
  if (status >= 200 && status < 300) return 'ok';
  if (status >= 300 && status < 400) return 'redirected';
  return meanings[status] ?? (status >= 400 && status < 500 ? 'rejected' : 'unavailable');
}

/** An error body, as far as it could be understood. */
export interface Problem {
  /** The service's own code, where it gives one. */
  code?: string;
  /** One text for a person, of at most 500 characters; empty when the body said nothing. */
  message: string;
}

/** How much of an error body is passed on. */
const longestMessage = 500;

/**
 * Digs a message and a code out of an error body: parsed JSON of any shape, or the text itself. Never throws.
 */
export function problemOf(body: unknown): Problem {
  const message = joined([...new Set(sentencesIn(body))]).slice(0, longestMessage);
  const code = codeIn(body);
  return code === undefined ? { message } : { code, message };
}

/** The causes of a refusal that jobs skip a target for, rather than let it fail. */
export type Refusal = 'daily-limit' | 'maintenance' | 'not-eligible';

const refusalCodes: ReadonlyMap<string | undefined, Refusal> = new Map([
  ['daily_sync_limit_reached', 'daily-limit'],
  ['site_under_maintenance', 'maintenance'],
  ['site_disconnected', 'not-eligible'],
  ['site_locked', 'not-eligible'],
]);

/**
 * The known cause behind a 409 or 422, by its code or, since the codes are not shown, by its words;
 * `undefined` for every other cause.
 */
export function refusalOf(problem: Problem): Refusal | undefined {
  const known = refusalCodes.get(problem.code);
  if (known) return known;
  const words = `${problem.code ?? ''} ${problem.message}`.toLowerCase();
  if ((words.includes('daily') && words.includes('limit')) || /\bsyncs? (?:a|per) day\b/.test(words))
    return 'daily-limit';
  if (words.includes('maintenance')) return 'maintenance';
  // Of the site itself: a destination that is disconnected is the policy's concern.
  return /\bsite (?:\S+ )?is (?:disconnected|not connected|locked)\b/.test(words)
    ? 'not-eligible'
    : undefined;
}
