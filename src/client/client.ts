/**
 * One typed call per operation of the contract, for one account: budget first, then the request, then what the answer
 * means. Nothing here knows about jobs or runs; whoever calls decides what follows from an error.
 */
import type { Readable } from 'node:stream';
import type { Budget } from '../budget/budget.ts';
import type { RequestClass } from '../budget/request-class.ts';
import type { Ticket, WindowReport } from '../budget/ticket.ts';
import { type Clock, type TimeBounds, timeOf } from '../clock.ts';
import { ContractError, type Drift, isForeign, meaningOf, readAnswer } from '../contract/answers.ts';
import { checkInput } from '../contract/input.ts';
import { type Operation, pathParameters } from '../contract/operation.ts';
import { type Answer, type Input, type OperationId, operationOf } from '../contract/operations.ts';
import { CaretakerError } from '../errors.ts';
import type { Log } from '../log.ts';
import {
  AccountRefusedError,
  ConflictError,
  GoneError,
  NotTheServiceError,
  RejectedError,
  UnavailableError,
} from './errors.ts';
import {
  Connection,
  discard,
  type Exchange,
  isOverdue,
  isPage,
  type Reply,
  readText,
  streamPdf,
} from './http.ts';
import { InvalidInputError } from './invalid-input.ts';
import { encodeQuery } from './query.ts';
import { hasRateHeaders, windowReportOf } from './rate-headers.ts';
import { errorOf, isDefinite, isLost, isSomebodyElses, parsed, unreadable } from './reply-meaning.ts';
import { type Exchanged, ServiceClock } from './service-clock.ts';

/** How a call is made. */
export interface CallOptions {
  requestClass: RequestClass;
  /**
   * What to do when the budget has nothing left: `wait` for the next window, or `leave` with a `BudgetSpentError`,
   * for callers that hold a worker's slot. The default is to wait.
   */
  whenSpent?: 'wait' | 'leave';
  signal?: AbortSignal;
  /**
   * Called when the budget has let the request go, directly before it is sent. When it rejects, nothing is sent, and the
   * call rejects with that. It may give the moment after which the request is not sent any more, however long it takes to connect:
   * then the call rejects with an `UnavailableError` that was not sent.
   */
  beforeSend?: () => Promise<number | undefined>;
  /**
   * Called once for every request that is really sent: what a run costs is counted here. With the ticket it is sent by.
   */
  onRequest?: OnRequest;
}

type OnRequest = (operation: OperationId, ticket: Ticket) => void;

export interface Client {
  readonly account: string;
  /**
   * Calls an operation. Costs one request, and one more for each redirect and each 429; reads that get no usable
   * answer are tried up to three times, and once while nothing else gets one either. What a person waits for has ten seconds to begin, and is then not tried again.
   *
   * @throws {RejectedError} 400, 422  {GoneError} 404  {ConflictError} 409  {AccountRefusedError} 401, 403
   * @throws {UnavailableError} 5xx, time limits, cut connections, unreadable bodies
   * @throws {UnreadableError} an `UnavailableError` when a change was made, and its answer cannot be used
   * @throws {RedirectedError} an `UnavailableError` for a redirect that is not followed
   * @throws {NotTheServiceError} an `UnavailableError` when something else answers at the base URL
   * @throws {ContractError} when the answer lacks what we cannot work without
   * @throws {BudgetSpentError} with `whenSpent: 'leave'` only. A 429 is never an error: the budget waits it out.
   * @throws {InvalidInputError} when the request itself is against the contract; nothing is sent then
   * @throws the signal's reason when it was aborted
   */
  call<Id extends OperationId>(id: Id, input: Input<Id>, options: CallOptions): Promise<Answer<Id>>;
  /**
   * Streams what an operation that answers a PDF sends; the caller bounds and ends it. Errors as for `call`, and an
   * `UnavailableError` from the stream when it breaks off or is no PDF.
   */
  download(id: OperationId, input: Record<string, unknown>, options: CallOptions): Promise<Readable>;
  /** Since when the oldest request under way has been without an answer; PDFs, which take their time, do not count. */
  waitingSince(): number | undefined;
  /**
   * Whether the service gives usable answers, be they refusals, from this moment on: it is asked something small. All who want to
   * know it while one of them is told are told together by the next. Costs a request, up to three where one fails. False at once
   * when the signal aborts.
   */
  answers(onRequest: OnRequest, signal?: AbortSignal): Promise<boolean>;
  /**
   * When it was `at` (our clock), by the service's clock, as its answers so far have shown it. Costs nothing, but for one small
   * request when no answer has shown a time yet; bounds of a day where none ever does. Errors as for `call`.
   */
  serviceTime(at: number, options: CallOptions): Promise<TimeBounds>;
  /** The same without asking; nothing when no answer has shown a time yet. */
  knownServiceTime(at: number): TimeBounds | undefined;
  close(): Promise<void>;
}

export interface ClientOptions {
  account: { name: string; baseUrl: string; token: string };
  budget: Budget;
  clock: Clock;
  log: Pick<Log, 'warn'>;
  /** Told about every deviation of an answer from the contract. */
  onDrift?: (drift: Drift) => void;
}

const READ_TRIES = 3;
const READ_PAUSE_MS = 300;
const MAX_REDIRECTS = 3;
/** A service that takes longer to answer something small is away. */
const ANSWERS_WITHIN_MS = 5_000;
/** A person who waits wants to hear after so long that nothing comes, and not to be kept for two more tries. */
const PERSON_WAITS_MS = 10_000;

/** Opens the client of one account; `close` it to let its connections go. */
export function openClient({ account, budget, clock, log, onDrift }: ClientOptions): Client {
  const connection = new Connection(account);
  const serviceClock = new ServiceClock();

  const take = ({ requestClass, whenSpent, signal }: CallOptions): Promise<Ticket> => {
    signal?.throwIfAborted();
    return whenSpent === 'leave' ? budget.takeNow(requestClass) : budget.take(requestClass, signal);
  };

  /**
   * An answer is there whether or not the budget can be told of it: it is not lost with that, and does not wait for it. Whoever
   * takes a request over the same connection afterwards finds it told.
   */
  const learn = (ticket: Ticket, report: WindowReport | undefined): void => {
    budget.learn(ticket, report).catch((error: unknown) => {
      log.warn({ account: account.name, err: error }, 'the budget could not be told of an answer');
    });
  };

  /** Requests in a row that got no usable answer. */
  let unanswered = 0;
  /** When each request under way was sent, in that order. */
  const underWay = new Set<{ at: number }>();

  /** One request within the budget, from taking it to telling what became of it. */
  async function sendOnce(exchange: Exchange, options: CallOptions): Promise<TimedReply> {
    const ticket = await take(options);
    // What is not sent, or given up, says nothing of the service.
    let report: WindowReport | undefined;
    const sent = { at: 0 };
    try {
      const leaveBy = await options.beforeSend?.();
      options.onRequest?.(exchange.operation, ticket);
      sent.at = clock.now();
      if (operationOf(exchange.operation).answers !== 'pdf') underWay.add(sent);
      let late = false;
      const isLate = leaveBy === undefined ? undefined : () => (late = clock.now() > leaveBy);
      const reply = await connection.exchange({ ...exchange, isLate }).catch((error: unknown) => {
        if (error instanceof UnavailableError && !late) report = { kind: 'failed' };
        throw error;
      });
      const leadsNowhere = connection.redirectionOf(exchange, reply) === undefined;
      report = windowReportOf(reply, leadsNowhere);
      const exchanged = { sentAt: sent.at, receivedAt: clock.now() };
      if (hasRateHeaders(reply)) connection.recognise();
      // What stands before the service has a clock of its own.
      if (hasRateHeaders(reply) || (report.kind !== 'failed' && !isPage(reply)))
        serviceClock.learnDate(reply.header('date'), reply.header('age'), exchanged);
      return { ...reply, exchanged };
    } finally {
      underWay.delete(sent);
      if (report) unanswered = report.kind === 'failed' ? unanswered + 1 : 0;
      learn(ticket, report);
    }
  }

  /**
   * Sends until there is an answer other than 429: waiting out a window is the budget's business, not the caller's.
   * Redirects are followed for reads only and never to another origin, each as a request of its own.
   */
  async function send(id: OperationId, input: object, options: CallOptions): Promise<TimedReply> {
    const operation = operationOf(id);
    const { target, ...body } = requestOf(operation, input);
    // A PDF may be made only when it is asked for.
    const waits = options.requestClass === 'person' && operation.answers !== 'pdf';
    const limit = waits ? { answerWithinMs: PERSON_WAITS_MS } : {};
    let path = connection.pathOf(target);
    for (let redirects = 0; ; ) {
      const exchange = {
        operation: id,
        method: operation.method,
        path,
        ...body,
        ...limit,
        signal: options.signal,
      };
      const reply = await sendOnce(exchange, options);
      const isRedirect = meaningOf(reply.status) === 'redirected';
      const next = redirects < MAX_REDIRECTS ? connection.redirectionOf(exchange, reply) : undefined;
      if (!isRedirect && reply.status !== 429) return reply;
      discard(reply);
      if (isRedirect && next === undefined) throw connection.redirected(id, exchange, reply);
      if (next === undefined) continue;
      path = next;
      redirects += 1;
    }
  }

  /** The reply to a call, when it is a success; any other is thrown as what it means. */
  async function once(id: OperationId, input: object, options: CallOptions): Promise<TimedReply> {
    const reply = await send(id, input, options);
    const { status } = reply;
    const meaning = meaningOf(status);
    if (meaning === 'ok') return reply;
    if (meaning === 'refused') {
      discard(reply);
      throw new AccountRefusedError(account.name, status === 403 ? 403 : 401);
    }
    // Why something was rejected decides what follows; of the others the status says all that matters.
    const text = await readText(id, reply).catch((error: unknown) => {
      if (meaning === 'rejected') throw error;
      return '';
    });
    if (isDefinite(status) && isSomebodyElses(reply, text)) throw pageError(id, reply);
    if (isLost(id, reply))
      throw connection.notTheService(id, true, `it answers ${id} with HTTP ${status}`, { status });
    throw errorOf(id, status, text);
  }

  const pageError = (id: OperationId, { status }: Reply) =>
    connection.notTheService(id, true, `it answers ${id} with a web page (HTTP ${status})`, { status });

  async function read<Id extends OperationId>(id: Id, reply: TimedReply): Promise<Answer<Id>> {
    const { status } = reply;
    const text = await readText(id, reply);
    if (isSomebodyElses(reply, text)) throw pageError(id, reply);
    const body = parsed(text);
    if (body === undefined) {
      const is = text.trim() === '' ? 'empty' : 'not JSON';
      throw new UnavailableError(id, true, `its answer is ${is}`, { status });
    }
    if (isForeign(id, body) && !hasRateHeaders(reply))
      throw connection.notTheService(id, true, `it answers ${id} with JSON of another kind`, { status });
    const { value, drift } = readAnswer(id, body);
    connection.recognise();
    for (const deviation of drift) onDrift?.(deviation);
    serviceClock.learnCreation(creationIn(id, value), reply.exchanged);
    return value;
  }

  /** Reads may be asked again without harm; a change is asked once, and what became of it is found out by its job. */
  async function withRetries<T>(
    id: OperationId,
    options: CallOptions,
    attempt: () => Promise<T>,
  ): Promise<T> {
    for (let tries = 1; ; tries += 1) {
      try {
        return await attempt();
      } catch (error) {
        // Whoever gave up wants to hear that, not how the answer broke off.
        options.signal?.throwIfAborted();
        // The service is away: whoever asks comes back by himself, but for a person.
        const away = unanswered > READ_TRIES && options.requestClass !== 'person';
        if (away || !mayAskAgain(id, error, options) || tries === READ_TRIES) throw error;
        await clock.sleep(READ_PAUSE_MS * 2 ** (tries - 1), options.signal);
      }
    }
  }

  function check(id: OperationId, input: object): void {
    const faults = checkInput(id, input);
    if (faults.length > 0) throw new InvalidInputError(id, faults);
  }

  async function call<Id extends OperationId>(id: Id, input: Input<Id>, options: CallOptions) {
    check(id, input);
    return withRetries(id, options, async () => {
      const reply = await once(id, input, options);
      if (operationOf(id).answer !== undefined)
        return read(id, reply).catch((error: unknown) => Promise.reject(unreadable(id, reply, error)));
      if (isPage(reply) && isSomebodyElses(reply, await readText(id, reply))) throw pageError(id, reply);
      discard(reply);
      return undefined as Answer<Id>;
    });
  }

  async function ask(onRequest: OnRequest): Promise<boolean> {
    const signal = AbortSignal.timeout(ANSWERS_WITHIN_MS);
    try {
      await call(
        'listTags',
        { perPage: 1 },
        { requestClass: 'control', whenSpent: 'leave', onRequest, signal },
      );
      return true;
    } catch (error) {
      if (refusals.some((refusal) => error instanceof refusal)) return true;
      if (error instanceof CaretakerError || signal.aborted) return false;
      throw error;
    }
  }

  /** Whether the service was found to show no time in its answers. */
  let hidesTime = false;
  /** The question under way, and the one that is asked when that is answered. */
  let asking: Promise<unknown> = Promise.resolve();
  let next: Promise<boolean> | undefined;

  return {
    account: account.name,
    call,
    answers(onRequest, signal) {
      next ??= asking.then(() => {
        next = undefined;
        const answer = ask(onRequest);
        asking = answer.catch(() => undefined);
        return answer;
      });
      return unlessAborted(next, signal);
    },
    async download(id, input, options) {
      check(id, input);
      return withRetries(id, options, async () => {
        const reply = await once(id, input, options);
        if (!isPage(reply)) return streamPdf(id, reply);
        discard(reply);
        throw pageError(id, reply);
      });
    },
    waitingSince: () => [...underWay][0]?.at,
    knownServiceTime: (at) => (serviceClock.isMeasured ? serviceClock.serviceTime(at) : undefined),
    async serviceTime(at, options) {
      if (!serviceClock.isMeasured && !hidesTime) {
        await call('listTags', { perPage: 1 }, options);
        hidesTime = !serviceClock.isMeasured;
      }
      return serviceClock.serviceTime(at);
    },
    close: () => connection.close(),
  };
}

/** A reply, and when it can have been made. */
type TimedReply = Reply & { exchanged: Exchanged };

/** When the service made what was just asked for, where an answer shows it. */
function creationIn(id: OperationId, value: unknown): TimeBounds | undefined {
  const { effect, success } = operationOf(id);
  const { task, ...rest } = (value ?? {}) as Record<string, unknown>;
  const made = effect === 'once' && task ? task : success === 201 ? Object.values(rest)[0] : undefined;
  const [first] = Array.isArray(made) ? made : [made];
  return timeOf((first as { created_at?: string } | undefined)?.created_at);
}

/** The answer, or false when somebody does not wait for it any longer. */
function unlessAborted(answer: Promise<boolean>, signal: AbortSignal | undefined): Promise<boolean> {
  if (!signal) return answer;
  return new Promise((resolve, reject) => {
    const leave = () => resolve(false);
    if (signal.aborted) leave();
    signal.addEventListener('abort', leave, { once: true });
    answer.then(resolve, reject).finally(() => signal.removeEventListener('abort', leave));
  });
}

/** The answers of the service that say no: it is there, and looked at what was asked. */
const refusals = [AccountRefusedError, RejectedError, GoneError, ConflictError];

function mayAskAgain(id: OperationId, error: unknown, { requestClass }: CallOptions): boolean {
  if (operationOf(id).effect !== undefined) return false;
  if (error instanceof ContractError) return true;
  if (!(error instanceof UnavailableError) || error instanceof NotTheServiceError) return false;
  return !(requestClass === 'person' && isOverdue(error));
}

/** The path with its parameters filled in, the query, and the body. */
function requestOf(operation: Operation, input: object): { target: string; body?: unknown } {
  const { body, ...rest } = input as Record<string, unknown>;
  const names = pathParameters(operation.path);
  const path = names.reduce(
    (filled, name) => filled.replace(`{${name}}`, encodeURIComponent(String(rest[name]))),
    operation.path as string,
  );
  const query = Object.fromEntries(Object.entries(rest).filter(([name]) => !names.includes(name)));
  return { target: `${path}${encodeQuery(query)}`, ...(body === undefined ? {} : { body }) };
}
