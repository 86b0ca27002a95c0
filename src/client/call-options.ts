import type { RequestClass, Ticket } from '../budget/ticket.ts';
import type { Problem } from '../contract/answers.ts';
import type { OperationId } from '../contract/operations.ts';

export interface CallOptions {
  requestClass: RequestClass;
  /** The policy whose run needs it: the history of the budget counts by policy. */
  policy?: string;
  /**
   * What happens when the budget has nothing left: `wait` for the next window, or `leave` with a
   * `BudgetSpentError`, for callers that hold a worker's slot. Default: `wait`.
   */
  whenSpent?: 'wait' | 'leave';
  signal?: AbortSignal;
  /**
   * Called when the budget has granted the request, directly before it is sent. If it rejects, nothing is
   * sent, and the call rejects with the same error. It may return a time after which the request must not be
   * sent, however long the connection takes. The call then rejects with an `UnavailableError` whose `sent` is
   * false.
   */
  beforeSend?: () => Promise<number | undefined>;
  /** Called for every request that is actually sent, with its ticket. The cost of a run is counted here. */
  onRequest?: OnRequest;
  /** Called for every request that was sent, once its answer was read or it is clear that none comes. */
  onAnswer?: OnAnswer;
  /** Called for every request when its answer begins, or when none will come. */
  onSent?: ((sent: SentRequest) => void) | undefined;
}

/** A request, without what it says of clients: its address, its body, its answer. Times are milliseconds since 1970. */
export interface SentRequest {
  operation: OperationId;
  account: string;
  requestClass: RequestClass;
  method: string;
  /** The path with the names of its parameters: `/api/v6/sites/{site_id}/sync`. */
  template: string;
  server: { scheme: string; address: string; port: number };
  /** How long it waited for the budget. */
  budgetWaitMs: number;
  sentAt: number;
  endedAt: number;
  status?: number;
  /** The service's name for the request, if the answer has one. */
  requestId?: string | undefined;
  /** Why no answer came: the code of a system error, or the name of an error. */
  error?: string;
  /** How often it was sent before, after a 429 or a redirect. */
  resends: number;
}

export type OnRequest = (operation: OperationId, ticket: Ticket) => void;

/** One request that was sent, and how it was answered. */
export interface Answered {
  operation: OperationId;
  /** When it was sent. */
  at: number;
  /** From then to the begin of its answer, or to its failure. */
  ms: number;
  /** The HTTP status. Missing when no answer came. */
  status?: number;
  /** The id that the service gave the request, if it shows one. */
  requestId?: string;
  /** What an answer that is no success says, or why there is no answer. */
  problem?: Problem;
}

export type OnAnswer = (answered: Answered) => void;
