/**
 * One typed call per operation of the contract, for one account: budget first, then the request, then what
 * the answer means. Nothing here knows about jobs or runs; whoever calls decides what follows from an error.
 */
import type { Readable } from 'node:stream';
import type { Budget } from '../budget/budget.ts';
import type { Clock, TimeBounds } from '../clock.ts';
import { ContractError, type Drift } from '../contract/answers.ts';
import { checkInput } from '../contract/input.ts';
import { type Answer, type Input, type OperationId, operationOf } from '../contract/operations.ts';
import type { Log } from '../log.ts';
import type { CallOptions, OnRequest } from './call-options.ts';
import { NotTheServiceError, UnavailableError } from './errors.ts';
import { Connection, isOverdue } from './http.ts';
import { InvalidInputError } from './invalid-input.ts';
import { ReplyReader } from './reply-reader.ts';
import { RequestSender } from './request-sender.ts';
import { ServiceClock } from './service-clock.ts';
import { probeService, sharedProbe } from './service-probe.ts';

export interface Client {
  readonly account: string;
  /**
   * Calls an operation. Costs one request, and one more for each redirect and each 429. Reads without a
   * usable answer are tried up to three times, and once while no other request gets one either. An answer
   * that a person waits for has ten seconds to begin, and is then not asked for again.
   *
   * @throws {RejectedError} 400, 422  {GoneError} 404  {ConflictError} 409  {AccountRefusedError} 401, 403
   * @throws {UnavailableError} 5xx, time limits, cut connections, unreadable bodies
   * @throws {UnreadableError} an `UnavailableError` when a change was made, and its answer cannot be used
   * @throws {RedirectedError} an `UnavailableError` for a redirect that is not followed
   * @throws {NotTheServiceError} an `UnavailableError` when something else answers at the base URL
   * @throws {ContractError} when the answer lacks what we cannot work without
   * @throws {BudgetSpentError} with `whenSpent: 'leave'` only. A 429 is never an error: the budget waits it
   * out.
   * @throws {InvalidInputError} when the request itself is against the contract; nothing is sent then
   * @throws the signal's reason when it was aborted
   */
  call<Id extends OperationId>(id: Id, input: Input<Id>, options: CallOptions): Promise<Answer<Id>>;
  /**
   * Streams the PDF that an operation answers; the caller limits and ends the stream. Errors as for `call`,
   * and an `UnavailableError` from the stream when it breaks off or is no PDF.
   */
  download(id: OperationId, input: Record<string, unknown>, options: CallOptions): Promise<Readable>;
  /**
   * Since when the oldest request in progress has been without an answer; PDFs take their time and do not
   * count.
   */
  waitingSince(): number | undefined;
  /**
   * Whether the service gives usable answers from now on; a refusal is one too. Asks it something small.
   * Callers that ask while a probe is in progress share the next one. Costs a request, up to three where one
   * fails. False at once when the signal aborts.
   */
  answers(onRequest: OnRequest, signal?: AbortSignal): Promise<boolean>;
  /**
   * The time by the service's clock when it was `at` by ours, as its answers have shown it. Costs one small
   * request when no answer has shown a time yet, else nothing; bounds of a day where none ever does. Errors
   * as for `call`.
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
  /** Called for every deviation of an answer from the contract. */
  onDrift?: (drift: Drift) => void;
}

const READ_TRIES = 3;
const READ_PAUSE_MS = 300;

/** Opens the client of one account; `close` it to let its connections go. */
export function openClient({ account, budget, clock, log, onDrift }: ClientOptions): Client {
  const connection = new Connection(account);
  const serviceClock = new ServiceClock();
  const sender = new RequestSender(connection, serviceClock, { account: account.name, budget, clock, log });
  const reader = new ReplyReader(connection, serviceClock, account.name, onDrift);
  const call = callWith(sender, reader, clock);
  const askSomethingSmall = (options: CallOptions) => call('listTags', { perPage: 1 }, options);
  return {
    account: account.name,
    call,
    download: downloadWith(sender, reader, clock),
    answers: sharedProbe((onRequest) => probeService(askSomethingSmall, onRequest)),
    waitingSince: () => sender.waitingSince(),
    serviceTime: serviceTimeWith(askSomethingSmall, serviceClock),
    knownServiceTime: (at) => (serviceClock.isMeasured ? serviceClock.serviceTime(at) : undefined),
    close: () => connection.close(),
  };
}

/** Calls an operation whose answer is JSON, or nothing. */
function callWith(sender: RequestSender, reader: ReplyReader, clock: Clock): Client['call'] {
  return async (id, input, options) => {
    checkRequest(id, input);
    return withRetries(id, options, sender, clock, async () => {
      const reply = await reader.success(id, await sender.send(id, input, options));
      return reader.answer(id, reply);
    });
  };
}

/** Calls an operation that answers a PDF. */
function downloadWith(sender: RequestSender, reader: ReplyReader, clock: Clock): Client['download'] {
  return async (id, input, options) => {
    checkRequest(id, input);
    return withRetries(id, options, sender, clock, async () => {
      const reply = await reader.success(id, await sender.send(id, input, options));
      return reader.pdf(id, reply);
    });
  };
}

function checkRequest(id: OperationId, input: object): void {
  const faults = checkInput(id, input);
  if (faults.length > 0) throw new InvalidInputError(id, faults);
}

/**
 * Reads may be asked again without harm; a change is asked once, and what became of it is found out by its
 * job.
 */
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
      // Whoever gave up wants to hear that, not how the answer broke off.
      options.signal?.throwIfAborted();
      // The service is away: every caller but a person comes back later.
      const away = sender.failuresInARow > READ_TRIES && options.requestClass !== 'person';
      if (away || !mayAskAgain(id, error, options) || tries === READ_TRIES) throw error;
      await clock.sleep(READ_PAUSE_MS * 2 ** (tries - 1), options.signal);
    }
  }
}

function mayAskAgain(id: OperationId, error: unknown, { requestClass }: CallOptions): boolean {
  if (operationOf(id).effect !== undefined) return false;
  if (error instanceof ContractError) return true;
  if (!(error instanceof UnavailableError) || error instanceof NotTheServiceError) return false;
  return !(requestClass === 'person' && isOverdue(error));
}

/** The time by the service's clock; asks something small once when no answer has shown it yet. */
function serviceTimeWith(
  askSomethingSmall: (options: CallOptions) => Promise<unknown>,
  serviceClock: ServiceClock,
): Client['serviceTime'] {
  /** Whether the service was found to show no time in its answers. */
  let hidesTime = false;
  return async (at, options) => {
    if (!serviceClock.isMeasured && !hidesTime) {
      await askSomethingSmall(options);
      hidesTime = !serviceClock.isMeasured;
    }
    return serviceClock.serviceTime(at);
  };
}
