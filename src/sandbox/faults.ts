/** What can go wrong between a caller and the service, and which request meets it. */
import type { OperationId } from '../contract/operations.ts';

export const faultKinds = [
  'refuse',
  'reset-before',
  'reset-after',
  'status-503',
  'truncate',
  'hang',
] as const;

/**
 * - `refuse`: nobody listens on the port. For a single request (`failNext`), which has been accepted when we know what
 *   it is for, it is the same as `reset-before`.
 * - `reset-before`: the connection is destroyed and nothing was done.
 * - `reset-after`: everything was done, then the connection is destroyed before a byte of the answer.
 * - `status-503`: 503 before anything was done, not even authentication, as from a proxy in front.
 * - `truncate`: everything was done, and the answer's body ends in the middle (no body: as `reset-after`).
 * - `hang`: nothing was done and nothing is answered, until the caller gives up or the sandbox stops.
 */
export type FaultKind = (typeof faultKinds)[number];

export interface FaultMatch {
  operation: OperationId;
  /** How many requests meet the fault; default 1. */
  times?: number;
}

/** Faults that tests ask for by hand. */
export interface Faults {
  /** Every request meets `kind` until `end`; a second `begin` replaces the first. */
  begin(kind: FaultKind): void;
  end(): void;
  /** The next requests of one operation meet `kind`, in the order they were asked for. */
  failNext(match: FaultMatch, kind: FaultKind): void;
  /** The fault a request meets, if any; uses up what `failNext` ordered. */
  meet(operation: OperationId | null): FaultKind | undefined;
}

/** No fault at first. */
export function createFaults(): Faults {
  let outage: FaultKind | undefined;
  const ordered: { operation: OperationId; left: number; kind: FaultKind }[] = [];
  return {
    begin(kind) {
      outage = kind;
    },
    end() {
      outage = undefined;
    },
    failNext({ operation, times = 1 }, kind) {
      ordered.push({ operation, left: times, kind });
    },
    meet(operation) {
      if (outage) return outage;
      const order = ordered.find((one) => one.operation === operation && one.left > 0);
      if (!order) return undefined;
      order.left -= 1;
      return order.kind;
    },
  };
}
