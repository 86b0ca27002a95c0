/**
 * Instants of the service, compared with each other. One instant may be shown with its milliseconds in one
 * answer and without them in the next, so that two that are equal to the second are the same.
 */

/** Seconds since 1970. */
export const secondsOf = (timestamp: string): number => Math.floor(Date.parse(timestamp) / 1_000);
