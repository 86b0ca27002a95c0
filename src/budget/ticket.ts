/** What a caller gets for a request, and what it reports after the answer. */

/** Proof that a request was granted, and in which window. The caller returns it with the report. */
export interface Ticket {
  readonly window: number;
  /** Granted during an outage: this request shows whether the service is back. */
  readonly duringOutage?: boolean;
}

/** What an answer reported about the window. */
export interface WindowReport {
  limit?: number;
  remaining?: number;
  /** The time left in the window, from `X-RateLimit-Reset` in seconds. */
  resetMs?: number;
  /**
   * `limited` is a 429: nothing is left, whatever the numbers are. `failed` is a 5xx, a redirect that is not
   * followed, or no answer: it does not show that the service works.
   */
  kind: 'answered' | 'limited' | 'failed';
}

/** The decision about one request. */
export interface Decision {
  /** 0 when the request is granted, otherwise how long to wait before asking again. */
  waitMs: number;
  /** For callers that do not wait in place: when to try again. */
  retryAfterMs: number;
  ticket: Ticket;
}
