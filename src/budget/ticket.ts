/** What a caller is given for a request, and what it reports when the answer is there. */

/** Proof that a request was granted, and in which window; goes back with what the answer reported. */
export interface Ticket {
  readonly window: number;
  /**
   * Granted while nobody had got an answer since the last failure: it finds out whether the service is back.
   */
  readonly duringOutage?: boolean;
}

/** What an answer reported about the window. */
export interface WindowReport {
  limit?: number;
  remaining?: number;
  /** The time left in the window, as `X-RateLimit-Reset` gives it in seconds. */
  resetMs?: number;
  /**
   * `limited` is a 429: nothing is left, whatever the numbers say. `failed` is a 5xx, a redirect that is not
   * followed, or no answer at all: such an answer does not show that the service works.
   */
  kind: 'answered' | 'limited' | 'failed';
}

/** What was decided about one request. */
export interface Decision {
  /** 0 when the request may go, else after how long to ask again. */
  waitMs: number;
  /** For callers that do not wait in place: after how long it is worth coming back. */
  retryAfterMs: number;
  ticket: Ticket;
}
