/**
 * Compares timestamps of the service with each other. The service may show the same time with milliseconds in
 * one answer and without them in the next, so timestamps are compared by the second.
 */

/** Seconds since 1970. */
export const secondsOf = (timestamp: string): number => Math.floor(Date.parse(timestamp) / 1_000);
