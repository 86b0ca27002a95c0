import type { RequestClass } from '../budget/request-class.ts';
import type { Ticket } from '../budget/ticket.ts';
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
}

export type OnRequest = (operation: OperationId, ticket: Ticket) => void;
