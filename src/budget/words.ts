/** What those say to each other who take requests and those who give them. */

/** Who waits for a request, most urgent first. */
export const priorities = ['person', 'control', 'follow', 'action'] as const;
export type Priority = (typeof priorities)[number];

/** What an answer said of the window; `resetMs` is the time left, as `X-RateLimit-Reset` gives it in seconds. */
export interface WindowNews {
  limit?: number;
  remaining?: number;
  resetMs?: number;
  /**
   * `limited` is a 429: nothing is left, whatever the numbers say. `failed` is a 5xx, a redirect that is not followed,
   * or no answer at all: a sign of trouble, not of life.
   */
  kind: 'answered' | 'limited' | 'failed';
}

/** Proof that a request was let go, and in which window; goes back with what became of it. */
export interface Ticket {
  readonly window: number;
  /** Nobody had got an answer since the last failure when it was let go: it is to find out whether the service is back. */
  readonly amidOutage?: boolean;
}
