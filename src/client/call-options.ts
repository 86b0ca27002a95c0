/** How a call is made. */
import type { RequestClass } from '../budget/request-class.ts';
import type { Ticket } from '../budget/ticket.ts';
import type { OperationId } from '../contract/operations.ts';

export interface CallOptions {
  requestClass: RequestClass;
  /**
   * What to do when the budget has nothing left: `wait` for the next window, or `leave` with a
   * `BudgetSpentError`, for callers that hold a worker's slot. The default is to wait.
   */
  whenSpent?: 'wait' | 'leave';
  signal?: AbortSignal;
  /**
   * Called when the budget has granted the request, directly before it is sent. When it rejects, nothing is
   * sent, and the call rejects with that. It may return the time after which the request is not sent any
   * more, however long it takes to connect: then the call rejects with an `UnavailableError` that was not
   * sent.
   */
  beforeSend?: () => Promise<number | undefined>;
  /** Called for every request that is really sent, with its ticket: what a run costs is counted here. */
  onRequest?: OnRequest;
}

export type OnRequest = (operation: OperationId, ticket: Ticket) => void;
