/** Filters of lists, and the values that they can have, for the help of the command line, which loads no more. */

/** The most severe first. */
export const severities = ['error', 'warning', 'info'] as const;
export type Severity = (typeof severities)[number];

/** `open`: seen earlier, and still there. `acknowledged`: a person knows of it, and it does not count. */
export const findingStates = ['new', 'open', 'acknowledged', 'resolved'] as const;
export type FindingState = (typeof findingStates)[number];

/** `dead`: it was given up, and is sent again only if a person asks for it. */
export const deliveryStates = ['pending', 'delivered', 'dead'] as const;
export type DeliveryState = (typeof deliveryStates)[number];

/**
 * `requested`: written before the act, so that an act that happened always has a line. `done`, `failed`: its
 * result. `refused`: nothing was done, because the role of who asked, the input or the present state does not allow it.
 */
export const auditResults = ['requested', 'done', 'refused', 'failed'] as const;

/** A filter with one value or several: what has any of them is meant; nothing means everything. */
export type OneOrSome<T> = T | readonly T[] | undefined;

export const isAnyOf = <T>(wanted: OneOrSome<T>, holds: (one: T) => boolean): boolean =>
  wanted === undefined || ([wanted].flat() as T[]).some(holds);

/** The queues: of entries that plan, that act, and that deliver. */
export const queueNames = ['plans', 'actions', 'deliveries'] as const;
