/**
 * One typed call per operation of the contract, for one account: take a request from the budget, send it,
 * interpret the answer. This room knows nothing of jobs and runs. The caller decides what follows from an
 * error.
 */
import type { Readable } from 'node:stream';
import type { Budget } from '../budget/budget.ts';
import type { Clock, TimeBounds } from '../clock.ts';
import { ContractError, type Drift } from '../contract/answers.ts';
import { checkInput } from '../contract/input.ts';
import { type Answer, type Input, type OperationId, operationOf } from '../contract/operations.ts';
import { CaretakerError } from '../errors.ts';
import type { Log } from '../log.ts';
import { answered } from './answered.ts';
import type { CallOptions } from './call-options.ts';
import {
  AccountRefusedError,
  ConflictError,
  GoneError,
  InvalidInputError,
  NotTheServiceError,
  RejectedError,
  UnavailableError,
} from './errors.ts';
import { Connection, isTimeout } from './http.ts';
import { ReplyReader } from './reply-reader.ts';
import { type OnExchange, RequestSender, type TimedReply } from './request-sender.ts';
import { ServiceClock } from './service-clock.ts';

export interface Client {
  readonly account: string;
  /**
   * Calls an operation. Costs one request, and one more for each redirect and each 429. Reads without a
   * usable answer are tried up to three times, but only once while other requests fail too. For a person, the
   * answer must begin within ten seconds and is not requested again; nor is it where no connection can be made.
   *
   * @throws {RejectedError} 400, 422  {GoneError} 404  {ConflictError} 409  {AccountRefusedError} 401, 403
   * @throws {UnavailableError} 5xx, timeouts, broken connections, unreadable bodies
   * @throws {UnreadableError} an `UnavailableError`: a change was made, but its answer cannot be used
   * @throws {RedirectedError} an `UnavailableError`: a redirect that is not followed
   * @throws {NotTheServiceError} an `UnavailableError`: something else answers at the base URL
   * @throws {ContractError} when a needed field is missing in the answer
   * @throws {BudgetSpentError} only with `whenSpent: 'leave'`. A 429 is never an error: the budget waits.
   * @throws {InvalidInputError} when the request does not match the contract; nothing is sent
   * @throws the signal's reason when it was aborted
   */
  call<Id extends OperationId>(id: Id, input: Input<Id>, options: CallOptions): Promise<Answer<Id>>;
  /**
   * Streams the PDF that an operation returns. The caller limits and closes the stream. Throws the same
   * errors as `call`. The stream fails with an `UnavailableError` when it is cut or is not a PDF.
   */
  download(id: OperationId, input: Record<string, unknown>, options: CallOptions): Promise<Readable>;
  /** When the oldest request without an answer was sent. PDFs do not count, because they take long. */
  waitingSince(): number | undefined;
  /** Whether an answer has named the sandbox as its sender. False before the first answer. */
  isSandbox(): boolean;
  /**
   * Sends a small request to find out whether the service gives usable answers. A refusal is a usable answer.
   * Callers that ask while a probe is in progress share the next one, so the result is never older than the
   * call. Costs one request, up to three if one fails. Returns false immediately when the signal aborts.
   */
  answers(told: Told, signal?: AbortSignal): Promise<boolean>;
  /**
   * Converts `at`, a time of our clock, to the service's clock, as measured from its answers. Costs one small
   * request if no answer has shown a time yet, otherwise none. If no answer ever shows a time, the bounds are
   * a day. Throws the same errors as `call`.
   */
  serviceTime(at: number, options: CallOptions): Promise<TimeBounds>;
  /** The same without a request; undefined when no answer has shown a time yet. */
  knownServiceTime(at: number): TimeBounds | undefined;
  close(): Promise<void>;
}

export interface ClientOptions {
  account: { name: string; baseUrl: string; token: string };
  budget: Budget;
  clock: Clock;
  log: Pick<Log, 'warn'>;
  /** Called for every deviation of an answer from the contract. */
  onDrift?: (drift: Drift) => void;
  /** Called for every request that was sent, with how it ended. */
  onExchange?: OnExchange;
}

const READ_TRIES = 3;
const READ_PAUSE_MS = 300;

/** Opens the client of one account. Call `close` to close its connections. */
export function openClient({
  account,
  budget,
  clock,
  log,
  onDrift,
  onExchange = () => undefined,
}: ClientOptions): Client {
  const connection = new Connection(account);
  const serviceClock = new ServiceClock();
  const sender = new RequestSender(connection, serviceClock, {
    account: account.name,
    budget,
    clock,
    log,
    onExchange,
  });
  const reader = new ReplyReader(connection, serviceClock, account.name, onDrift);
  const call = callWith(sender, reader, clock);
  const sendSmallRequest = (options: CallOptions) => call('listTags', { perPage: 1 }, options);
  return {
    account: account.name,
    call,
    download: downloadWith(sender, reader, clock),
    answers: sharedProbe((told) => probeService(sendSmallRequest, told)),
    waitingSince: () => sender.waitingSince(),
    isSandbox: () => sender.isSandbox(),
    serviceTime: serviceTimeWith(sendSmallRequest, serviceClock),
    knownServiceTime: (at) => (serviceClock.isMeasured ? serviceClock.serviceTime(at) : undefined),
    close: () => connection.close(),
  };
}

/** Calls an operation that returns JSON or nothing. */
function callWith(sender: RequestSender, reader: ReplyReader, clock: Clock): Client['call'] {
  return async (id, input, options) => {
    checkRequest(id, input);
    return withRetries(id, options, sender, clock, () =>
      exchange(sender, id, input, options, async (reply) =>
        reader.answer(id, input, await reader.success(id, reply)),
      ),
    );
  };
}

/** Calls an operation that returns a PDF. */
function downloadWith(sender: RequestSender, reader: ReplyReader, clock: Clock): Client['download'] {
  return async (id, input, options) => {
    checkRequest(id, input);
    return withRetries(id, options, sender, clock, () =>
      exchange(sender, id, input, options, async (reply) => reader.pdf(id, await reader.success(id, reply))),
    );
  };
}

/** Sends a request, reads its answer, and reports both (`CallOptions.onAnswer`). */
async function exchange<T>(
  sender: RequestSender,
  id: OperationId,
  input: object,
  options: CallOptions,
  read: (reply: TimedReply) => Promise<T>,
): Promise<T> {
  const reply = await sender.send(id, input, options);
  const value = await read(reply).catch((error: unknown) => {
    options.onAnswer?.(answered(id, reply, error));
    throw error;
  });
  options.onAnswer?.(answered(id, reply));
  return value;
}

function checkRequest(id: OperationId, input: object): void {
  const faults = checkInput(id, input);
  if (faults.length > 0) throw new InvalidInputError(id, faults);
}

/** Reads can be repeated safely. A change is sent once; its job reconciles a lost answer. */
async function withRetries<T>(
  id: OperationId,
  options: CallOptions,
  sender: RequestSender,
  clock: Clock,
  attempt: () => Promise<T>,
): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await attempt();
    } catch (error) {
      // After an abort, the caller needs the abort reason rather than the error of the broken answer.
      options.signal?.throwIfAborted();
      // The service is down. Only a person's request is retried; other callers come back later.
      const isDown = sender.failuresInARow > READ_TRIES && options.requestClass !== 'person';
      if (isDown || !mayRetry(id, error, options) || tries === READ_TRIES) throw error;
      await clock.sleep(READ_PAUSE_MS * 2 ** (tries - 1), options.signal);
    }
  }
}

function mayRetry(id: OperationId, error: unknown, { requestClass }: CallOptions): boolean {
  if (operationOf(id).effect !== undefined) return false;
  if (error instanceof ContractError) return true;
  if (!(error instanceof UnavailableError) || error instanceof NotTheServiceError) return false;
  // Where nothing listens, or no one can be trusted, a person hears it at once.
  return requestClass !== 'person' || (error.sent && !isTimeout(error));
}

/** Converts times to the service's clock. Sends one small request if no answer has shown a time yet. */
function serviceTimeWith(
  sendSmallRequest: (options: CallOptions) => Promise<unknown>,
  serviceClock: ServiceClock,
): Client['serviceTime'] {
  /** Set when the service was found to show no time in its answers. */
  let hidesTime = false;
  return async (at, options) => {
    if (!serviceClock.isMeasured && !hidesTime) {
      await sendSmallRequest(options);
      hidesTime = !serviceClock.isMeasured;
    }
    return serviceClock.serviceTime(at);
  };
}

/** A service that takes longer to answer a small request counts as down. */
const PROBE_TIMEOUT_MS = 5_000;

/** With these errors the service did answer the request. */
const refusals = [AccountRefusedError, RejectedError, GoneError, ConflictError];

/** What is told of the request. */
type Told = Pick<CallOptions, 'onRequest' | 'onSent'>;

/** Sends the service a small request. A refusal counts as a usable answer. */
async function probeService(ask: (options: CallOptions) => Promise<unknown>, told: Told): Promise<boolean> {
  const signal = AbortSignal.timeout(PROBE_TIMEOUT_MS);
  try {
    await ask({ requestClass: 'control', whenSpent: 'leave', ...told, signal });
    return true;
  } catch (error) {
    if (refusals.some((refusal) => error instanceof refusal)) return true;
    if (error instanceof CaretakerError || signal.aborted) return false;
    throw error;
  }
}

/**
 * Runs one probe at a time. All callers that ask while one is in progress share the next one: the result of a
 * probe that started before the call may be out of date.
 */
function sharedProbe(
  probe: (told: Told) => Promise<boolean>,
): (told: Told, signal?: AbortSignal) => Promise<boolean> {
  let current: Promise<unknown> = Promise.resolve();
  let next: Promise<boolean> | undefined;
  return (told, signal) => {
    next ??= current.then(() => {
      next = undefined;
      const answer = probe(told);
      current = answer.catch(() => undefined);
      return answer;
    });
    return unlessAborted(next, signal);
  };
}

/** The answer, or false when the signal aborts first. */
function unlessAborted(answer: Promise<boolean>, signal: AbortSignal | undefined): Promise<boolean> {
  if (!signal) return answer;
  return new Promise((resolve, reject) => {
    const leave = () => resolve(false);
    if (signal.aborted) leave();
    signal.addEventListener('abort', leave, { once: true });
    answer.then(resolve, reject).finally(() => signal.removeEventListener('abort', leave));
  });
}
