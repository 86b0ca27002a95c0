/** What can go wrong between a caller and the service, and which request meets it. */
import type { OperationId } from '../contract/operations.ts';

/**
 * Gravest first: of several that a request meets, the first of those before `slow` decides what becomes of it, and is
 * the one that the journal names. `slow` and what follows go together with each other and with any of them.
 */
export const faultKinds = [
  'refuse',
  'hang',
  'maintenance',
  'reset-before',
  'status-503',
  'error-before',
  'bare-429',
  'reset-after',
  'error-after',
  'truncate',
  'garbage',
  'slow',
  'other-consumer',
  'unknown-values',
  'moving-items',
] as const;

/**
 * - `refuse`: nobody listens on the port. For a single request (`failNext`), which has been accepted when we know what
 *   it is for, it is the same as `reset-before`.
 * - `hang`: nothing was done and nothing is answered, until the caller gives up or the sandbox stops.
 * - `maintenance`: 503 with an HTML page and `Retry-After`, before anything was done.
 * - `reset-before`: the connection is destroyed and nothing was done.
 * - `status-503`: 503 before anything was done, not even authentication, as from a proxy in front.
 * - `error-before`, `error-after`: 500, before anything or after everything was done.
 * - `bare-429`: 429 without rate headers, and nothing was done.
 * - `reset-after`: everything was done, then the connection is destroyed before a byte of the answer.
 * - `truncate`: everything was done, and the answer's body ends in the middle (no body: as `reset-after`).
 * - `garbage`: everything was done, and the answer is an HTML page with the status of success.
 * - `slow`: the answer comes ten seconds late, by the sandbox's clock.
 * - `other-consumer`: somebody else with the same account has sent ten requests just before.
 * - `unknown-values`: a good answer has fields that no contract knows, and a value that its enum does not have.
 * - `moving-items`: while pages were read, an item came in before them: a page after the first repeats the item before
 *   it, and lacks its own last one.
 */
export type FaultKind = (typeof faultKinds)[number];

export interface FaultMatch {
  operation: OperationId;
  /** How many requests meet the fault; default 1. */
  times?: number;
}

/** Faults that tests ask for by hand, and those that come by chance. */
export interface Faults {
  /** Every request meets `kind` until `end`; a second `begin` replaces the first. */
  begin(kind: FaultKind): void;
  end(): void;
  /** The next requests of one operation meet `kind`, in the order they were asked for. */
  failNext(match: FaultMatch, kind: FaultKind): void;
  /** The faults a request meets, gravest first; uses up what `failNext` ordered. */
  meet(operation: OperationId | null): readonly FaultKind[];
}

/** No fault by hand at first; `chance` gives those that a request meets besides. */
export function createFaults(chance: () => readonly FaultKind[] = () => []): Faults {
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
      if (outage) return [outage];
      const order = ordered.find((one) => one.operation === operation && one.left > 0);
      if (!order) return chance();
      order.left -= 1;
      return [order.kind];
    },
  };
}
