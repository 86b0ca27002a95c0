/**
 * What can go wrong between a caller and the service, and which request meets it.
 *
 * There are three kinds of faults: `faults/stops.ts` keep a request from its answer, `faults/changes.ts` make
 * an answer different, `faults/luck.ts` are in the service's own work. What the service is like as a whole,
 * its clock and how far its lists lag, is no fault of a request: see `SandboxOptions`.
 */
import type { OperationId } from '../contract/operations.ts';
import { changes } from './faults/changes.ts';
import { stops } from './faults/stops.ts';

type Stop = keyof typeof stops;
type Change = keyof typeof changes;

/** A fault that a request can meet. What each of them does stands in the tables. */
export type FaultKind = Stop | Change;

/** Stops first, gravest first. */
export const faultKinds = [...Object.keys(stops), ...Object.keys(changes)] as readonly FaultKind[];

const isStop = (kind: FaultKind): kind is Stop => Object.hasOwn(stops, kind);

/** The gravest stop of those that a request meets: it alone decides what becomes of the request. */
export const stopAmong = (met: readonly FaultKind[]): Stop | undefined => met.find(isStop);

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
