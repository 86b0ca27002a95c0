/** What a caller gets for a request, what it reports after the answer, and the classes of requests. */
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

// The classes of requests, most urgent first, and what the budget guarantees to each.

/**
 * Why a request is sent. `person`: a person waits for it. `control`: it reconciles a change, or checks
 * whether the service is back. `follow`: it follows work in the service. `action`: it does the work of a run.
 * `record`: it writes what was done to the sites (`record:` of a policy).
 */
export const requestClasses = ['person', 'control', 'follow', 'action', 'record'] as const;
export type RequestClass = (typeof requestClasses)[number];

export interface ClassRule {
  /**
   * The percentage of the spendable limit, 0 to 1, that the other classes leave for this one in every window.
   */
  share: number;
  /** Asks without notice: its use in the previous window does not predict its next requests. */
  bursty: boolean;
  /**
   * Gets no more than its share of a window in which a predictable class asked recently, until the window
   * nearly ends: then it gets what the others have left.
   */
  capped?: true;
}

export const classRules: Record<RequestClass, ClassRule> = {
  person: { share: 0.12, bursty: true },
  control: { share: 0.02, bursty: true },
  follow: { share: 0.06, bursty: false },
  action: { share: 0.05, bursty: false },
  record: { share: 0.04, bursty: false, capped: true },
};
