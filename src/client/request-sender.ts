/** Sends the requests of an account: each within the budget, and again after a 429 or a redirect. */
import type { Budget } from '../budget/budget.ts';
import type { Ticket, WindowReport } from '../budget/ticket.ts';
import type { Clock } from '../clock.ts';
import { type Meaning, meaningOf } from '../contract/answers.ts';
import type { ListQuery, Scalar } from '../contract/list.ts';
import { type Operation, pathParameters } from '../contract/operation.ts';
import { type OperationId, operationOf } from '../contract/operations.ts';
import { SANDBOX_SERVER } from '../contract/service-address.ts';
import { systemCodeOf } from '../errors.ts';
import type { Log } from '../log.ts';
import { answered, hasRateHeaders, problemIn, windowReportOf } from './answered.ts';
import type { CallOptions, SentRequest } from './call-options.ts';
import { UnavailableError } from './errors.ts';
import { type Connection, discard, type Exchange, isPage, type Reply } from './http.ts';
import type { Exchanged, ServiceClock } from './service-clock.ts';

/**
 * The query string of a list call (spec 4.1): `filters[field:operator]=value`, and
 * `filters[field:in][]=value`, repeated, for lists. Empty for an empty query.
 */
export function encodeQuery(query: Record<string, unknown> & ListQuery): string {
  const pairs: [string, Scalar][] = [];
  for (const [name, value] of Object.entries(query)) {
    if (name !== 'filters' && value !== undefined) pairs.push([name, value as Scalar]);
  }
  for (const [field, conditions] of Object.entries(query.filters ?? {})) {
    for (const [operator, value] of Object.entries(conditions)) {
      if (Array.isArray(value)) {
        for (const one of value) pairs.push([`filters[${field}:${operator}][]`, one as Scalar]);
      } else if (value !== undefined) pairs.push([`filters[${field}:${operator}]`, value as Scalar]);
    }
  }
  if (pairs.length === 0) return '';
  return `?${new URLSearchParams(pairs.map(([name, value]): [string, string] => [name, String(value)]))}`;
}

/** A reply, with the bounds of the time at which it was made. */
export type TimedReply = Reply & { exchanged: Exchanged };

export interface SenderDeps {
  account: string;
  budget: Budget;
  clock: Clock;
  log: Pick<Log, 'warn'>;
  onExchange: OnExchange;
}

/** `unanswered`: the connection failed, or no answer began in time. */
export type ExchangeResult = Meaning | 'unanswered';
/** `ms`: from sending the request to the begin of its answer, or to its failure. */
export type OnExchange = (operation: OperationId, result: ExchangeResult, ms: number) => void;

const MAX_REDIRECTS = 3;
/** How long a person waits until an answer begins. There are no further attempts after that. */
const PERSON_TIMEOUT_MS = 10_000;

export class RequestSender {
  /** The number of consecutive requests without a usable answer. */
  failuresInARow = 0;
  private sandbox = false;
  /** The send times of the requests in progress, oldest first. */
  private readonly inProgress = new Set<{ at: number }>();

  constructor(
    private readonly connection: Connection,
    private readonly serviceClock: ServiceClock,
    private readonly deps: SenderDeps,
  ) {}

  isSandbox(): boolean {
    return this.sandbox;
  }

  /** When the oldest request in progress was sent; PDFs do not count. */
  waitingSince(): number | undefined {
    return [...this.inProgress][0]?.at;
  }

  /**
   * Sends until the answer is not a 429. The budget waits for the next window, not the caller. Redirects are
   * followed for reads only and never to another origin, and each costs a request.
   */
  async send(id: OperationId, input: object, options: CallOptions): Promise<TimedReply> {
    this.connection.open();
    const operation = operationOf(id);
    const { target, ...body } = requestOf(operation, input);
    const timeout = timeoutOf(operation, options);
    let path = this.connection.pathOf(target);
    for (let redirects = 0, resends = 0; ; resends += 1) {
      const { method } = operation;
      const exchange = { operation: id, method, path, ...body, ...timeout, signal: options.signal };
      const reply = await this.sendOnce(exchange, options, resends);
      const isRedirect = meaningOf(reply.status) === 'redirected';
      const next = redirects < MAX_REDIRECTS ? this.connection.redirectionOf(exchange, reply) : undefined;
      if (!isRedirect && reply.status !== 429) return reply;
      discard(reply);
      options.onAnswer?.(answered(id, reply));
      if (isRedirect && next === undefined) throw this.connection.redirected(id, exchange, reply);
      if (next === undefined) continue;
      path = next;
      redirects += 1;
    }
  }

  /** Sends one request within the budget, and reports its result to the budget. */
  private async sendOnce(exchange: Exchange, options: CallOptions, resends: number): Promise<TimedReply> {
    const { clock } = this.deps;
    const askedAt = clock.now();
    const ticket = await this.take(options);
    const budgetWaitMs = clock.now() - askedAt;
    // Without a report: a request that was not sent, or was aborted, shows nothing about the service.
    let report: WindowReport | undefined;
    const sent = { at: 0 };
    const tell = (result: Pick<SentRequest, 'status' | 'requestId' | 'error'>) =>
      options.onSent?.({
        ...this.factsOf(exchange.operation),
        requestClass: options.requestClass,
        budgetWaitMs,
        sentAt: sent.at,
        endedAt: clock.now(),
        resends,
        ...result,
      });
    try {
      const sendBy = await options.beforeSend?.();
      options.onRequest?.(exchange.operation, ticket);
      sent.at = clock.now();
      if (operationOf(exchange.operation).answers !== 'pdf') this.inProgress.add(sent);
      let late = false;
      const isLate = sendBy === undefined ? undefined : () => (late = clock.now() > sendBy);
      const reply = await this.connection.exchange({ ...exchange, isLate }).catch((error: unknown) => {
        if (error instanceof UnavailableError && !late) {
          report = { kind: 'failed' };
          const ms = clock.now() - sent.at;
          this.deps.onExchange(exchange.operation, 'unanswered', ms);
          options.onAnswer?.({ operation: exchange.operation, at: sent.at, ms, problem: problemIn(error) });
        }
        if (!late) tell({ error: systemCodeOf(error) ?? nameOf(error) });
        throw error;
      });
      tell({ status: reply.status, requestId: reply.header('x-request-id') });
      const leadsNowhere = this.connection.redirectionOf(exchange, reply) === undefined;
      report = windowReportOf(reply, leadsNowhere);
      const exchanged = { sentAt: sent.at, receivedAt: clock.now() };
      this.deps.onExchange(exchange.operation, meaningOf(reply.status), exchanged.receivedAt - sent.at);
      this.learnFromHeaders(reply, report, exchanged);
      return { ...reply, exchanged };
    } finally {
      this.inProgress.delete(sent);
      if (report) this.failuresInARow = report.kind === 'failed' ? this.failuresInARow + 1 : 0;
      this.reportToBudget(ticket, report);
    }
  }

  /** What is the same for all requests of an operation. */
  private factsOf(
    id: OperationId,
  ): Pick<SentRequest, 'operation' | 'account' | 'method' | 'template' | 'server'> {
    const { method, path } = operationOf(id);
    const { account } = this.deps;
    const { server } = this.connection;
    return { operation: id, account, method, template: this.connection.pathOf(path), server };
  }

  private take({ requestClass, policy, whenSpent, signal }: CallOptions): Promise<Ticket> {
    const { budget } = this.deps;
    signal?.throwIfAborted();
    return whenSpent === 'leave'
      ? budget.takeNow(requestClass, policy)
      : budget.take(requestClass, signal, policy);
  }

  private learnFromHeaders(reply: Reply, report: WindowReport, exchanged: Exchanged): void {
    if (reply.header('server') === SANDBOX_SERVER) this.sandbox = true;
    // With 404 that is not a page of something between, it may be the service and another version of its API.
    if (hasRateHeaders(reply) && (reply.status !== 404 || isPage(reply))) this.connection.recognise();
    // A proxy in front of the service has its own clock.
    if (hasRateHeaders(reply) || (report.kind !== 'failed' && !isPage(reply)))
      this.serviceClock.learnDate(reply.header('date'), reply.header('age'), exchanged);
  }

  /**
   * The caller gets its answer without waiting for the budget, and also when the budget cannot be updated. A
   * later request on the same connection finds the budget updated, by this answer or by the one before it.
   */
  private reportToBudget(ticket: Ticket, report: WindowReport | undefined): void {
    const { budget, log, account } = this.deps;
    budget.learn(ticket, report).catch((error: unknown) => {
      log.warn({ account, err: error }, 'the budget could not be updated by an answer');
    });
  }
}

/**
 * A person waits for a limited time. A PDF has no such limit, because the service may create it only on
 * request.
 */
const timeoutOf = (operation: Operation, { requestClass }: CallOptions): Pick<Exchange, 'answerWithinMs'> =>
  requestClass === 'person' && operation.answers !== 'pdf' ? { answerWithinMs: PERSON_TIMEOUT_MS } : {};

const nameOf = (error: unknown): string => (error instanceof Error ? error.name : typeof error);

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
