/** Turns a reply into the answer of its operation, or into the error that its status and body mean. */
import { type TimeBounds, timeOf } from '../clock.ts';
import {
  ContractError,
  type Drift,
  isForeign,
  meaningOf,
  type Problem,
  problemOf,
  readAnswer,
} from '../contract/answers.ts';
import { pathParameters } from '../contract/operation.ts';
import { type Answer, type OperationId, operationOf } from '../contract/operations.ts';
import { parsedJson } from '../text.ts';
import { hasRateHeaders } from './answered.ts';
import {
  AccountRefusedError,
  ConflictError,
  GoneError,
  RejectedError,
  UnavailableError,
  UnreadableError,
} from './errors.ts';
import { type Connection, discard, isPage, type Reply, readText, streamPdf } from './http.ts';
import type { TimedReply } from './request-sender.ts';
import type { ServiceClock } from './service-clock.ts';

// Whether a reply comes from the service, and the error for a refusal.

/** Whether an answer is a web page from a proxy or another server. */
const isForeignPage = (reply: Reply, text: string): boolean =>
  isPage(reply) && !hasRateHeaders(reply) && parsedJson(text) === undefined;

/** Whether a status is about the request itself. The others may come from a proxy in front of the service. */
const isDefinite = (status: number): boolean => ['rejected', 'gone'].includes(meaningOf(status));

/**
 * Whether a 404 cannot be about the requested item: a path without an id always exists in the service. A
 * change may still be answered 404 because of an item that its body names.
 */
const isWrongPath = (id: OperationId, reply: Reply): boolean => {
  const { path, effect } = operationOf(id);
  if (meaningOf(reply.status) !== 'gone' || pathParameters(path).length > 0) return false;
  return effect === undefined || !hasRateHeaders(reply);
};

/** What an error body says; undefined when it says nothing. */
function problemInBody(text: string): Problem | undefined {
  const problem = problemOf(parsedJson(text) ?? text);
  return problem.message === '' && problem.code === undefined ? undefined : problem;
}

/** The error for a reply that is not a success, given its body. */
function errorOf(id: OperationId, status: number, text: string): Error {
  const said = problemOf(parsedJson(text) ?? text);
  const problem = { ...said, message: said.message || 'it gave no reason' };
  const meaning = meaningOf(status);
  if (meaning === 'rejected') return new RejectedError(id, status, problem);
  if (meaning === 'conflict') return new ConflictError(id, problem);
  if (meaning === 'gone') return new GoneError(id, problem);
  return new UnavailableError(id, true, `HTTP ${status}, ${problem.message.replace(/\.+$/, '')}`, {
    status,
    problem,
  });
}

/**
 * The error for a successful reply that could not be read. If it came from the service, the change was made.
 */
function unreadable(id: OperationId, reply: Reply, error: unknown): unknown {
  const isUnusable = error instanceof UnavailableError || error instanceof ContractError;
  const isMade = operationOf(id).effect !== undefined && hasRateHeaders(reply);
  return isUnusable && isMade ? new UnreadableError(id, reply.status, error) : error;
}

/**
 * Refuses a single view of another item than the one that was asked for. A backup destination may be asked for by its
 * provider (spec 4.4).
 *
 * @throws {ContractError}
 */
function refuseOtherItem(id: OperationId, input: object, value: unknown): void {
  const { path, effect } = operationOf(id);
  const [, parameter, item = ''] = /\{((\w+)_id)\}$/.exec(path) ?? [];
  if (effect !== undefined || parameter === undefined || id === 'showBackupDestination') return;
  const shown = (value as Record<string, { id?: unknown } | undefined>)[item]?.id;
  if (shown !== undefined && shown !== Reflect.get(input, parameter))
    throw new ContractError(id, `${item}.id`, 'is not the one that was asked for');
}

export class ReplyReader {
  constructor(
    private readonly connection: Connection,
    private readonly serviceClock: ServiceClock,
    private readonly account: string,
    private readonly onDrift: ((drift: Drift) => void) | undefined,
  ) {}

  /** Returns the reply when it is a success, and throws the matching error otherwise. */
  async success(id: OperationId, reply: TimedReply): Promise<TimedReply> {
    const { status } = reply;
    const meaning = meaningOf(status);
    if (meaning === 'ok') return reply;
    if (meaning === 'refused') {
      const said = problemInBody(await readText(id, reply).catch(() => ''));
      throw new AccountRefusedError(this.account, status === 403 ? 403 : 401, said);
    }
    // Only for a rejection does the body matter. For other errors the status is enough.
    const text = await readText(id, reply).catch((error: unknown) => {
      if (meaning === 'rejected') throw error;
      return '';
    });
    if (isDefinite(status) && isForeignPage(reply, text)) throw this.pageError(id, reply);
    if (isWrongPath(id, reply))
      throw this.connection.notTheService(id, true, `it answers ${id} with HTTP ${status}`, { status });
    throw errorOf(id, status, text);
  }

  /** The value of a successful reply to the request with this input; undefined for an operation without a body. */
  async answer<Id extends OperationId>(id: Id, input: object, reply: TimedReply): Promise<Answer<Id>> {
    if (operationOf(id).answer !== undefined) {
      const value = await this.json(id, reply).catch((error: unknown) =>
        Promise.reject(unreadable(id, reply, error)),
      );
      refuseOtherItem(id, input, value);
      return value;
    }
    if (isPage(reply) && isForeignPage(reply, await readText(id, reply))) throw this.pageError(id, reply);
    discard(reply);
    return undefined as Answer<Id>;
  }

  pdf(id: OperationId, reply: TimedReply): ReturnType<typeof streamPdf> {
    if (!isPage(reply)) return streamPdf(id, reply);
    discard(reply);
    throw this.pageError(id, reply);
  }

  private async json<Id extends OperationId>(id: Id, reply: TimedReply): Promise<Answer<Id>> {
    const { status } = reply;
    const text = await readText(id, reply);
    if (isForeignPage(reply, text)) throw this.pageError(id, reply);
    const body = parsedJson(text);
    if (body === undefined) {
      const is = text.trim() === '' ? 'empty' : 'not JSON';
      throw new UnavailableError(id, true, `its answer is ${is}`, { status });
    }
    if (isForeign(id, body) && !hasRateHeaders(reply))
      throw this.connection.notTheService(id, true, `it answers ${id} with JSON of another kind`, { status });
    const { value, drift } = readAnswer(id, body);
    this.connection.recognise();
    for (const deviation of drift) this.onDrift?.(deviation);
    this.serviceClock.learnCreation(creationIn(id, value), reply.exchanged);
    return value;
  }

  private pageError(id: OperationId, { status }: Reply): Error {
    return this.connection.notTheService(id, true, `it answers ${id} with a web page (HTTP ${status})`, {
      status,
    });
  }
}

/** When the service made the requested item, if the answer shows it. */
function creationIn(id: OperationId, value: unknown): TimeBounds | undefined {
  const { effect, success } = operationOf(id);
  const { task, ...rest } = (value ?? {}) as Record<string, unknown>;
  const made = effect === 'once' && task ? task : success === 201 ? Object.values(rest)[0] : undefined;
  const [first] = Array.isArray(made) ? made : [made];
  return timeOf((first as { created_at?: string } | undefined)?.created_at);
}
