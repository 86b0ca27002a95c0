/**
 * Faults between a caller and the service, and which requests they affect.
 *
 * There are three kinds of faults (`faults/names.ts`): a request gets no answer, an answer is changed, or the
 * service's own work fails. Properties of the whole service, such as its clock and the lag of its lists, are no
 * faults of a request: see `SandboxOptions`.
 */
import type { Clock } from '../clock.ts';
import type { OperationId } from '../contract/operations.ts';
import { changes, type FaultRates, stops } from './faults/names.ts';
import { randomFrom, seedOf } from './world/numbers.ts';
import { MINUTE } from './world/time.ts';

type Stop = keyof typeof stops;
type Change = keyof typeof changes;

/** A fault that can affect a request. The tables describe each of them. */
export type FaultKind = Stop | Change;

/** Stops first, the most severe first. */
export const faultKinds = [...Object.keys(stops), ...Object.keys(changes)] as readonly FaultKind[];

const isStop = (kind: FaultKind): kind is Stop => Object.hasOwn(stops, kind);

/** The most severe stop among the faults of a request. It alone decides what happens to the request. */
export const stopAmong = (met: readonly FaultKind[]): Stop | undefined => met.find(isStop);

export interface FaultMatch {
  operation: OperationId;
  /** How many requests are affected; default 1. */
  times?: number;
  /** How many requests are not affected before them; default 0. */
  after?: number;
}

/** Faults that tests start, and random ones. */
export interface Faults {
  /** Every request is affected by `kind` until `end`; a second `begin` replaces the first. */
  begin(kind: FaultKind): void;
  end(): void;
  /** The next requests of one operation are affected by `kind`, in the order of the calls. */
  failNext(match: FaultMatch, kind: FaultKind): void;
  /** The faults of the next request, the most severe first. Uses up one of `failNext`. */
  meet(operation: OperationId | null): readonly FaultKind[];
}

/** Starts without faults of tests; `chance` returns the random faults of a request. */
export function createFaults(chance: () => readonly FaultKind[] = () => []): Faults {
  let outage: FaultKind | undefined;
  const ordered: { operation: OperationId; before: number; left: number; kind: FaultKind }[] = [];
  return {
    begin(kind) {
      outage = kind;
    },
    end() {
      outage = undefined;
    },
    failNext({ operation, times = 1, after = 0 }, kind) {
      ordered.push({ operation, before: after, left: times, kind });
    },
    meet(operation) {
      if (outage) return [outage];
      const order = ordered.find((one) => one.operation === operation && one.left > 0);
      if (!order) return chance();
      if (order.before > 0) {
        order.before -= 1;
        return chance();
      }
      order.left -= 1;
      return [order.kind];
    },
  };
}

// Random faults, the same ones for the same seed and the same requests.

/** Draws the faults of each request in turn. Maintenance is drawn for whole minutes of the clock. */
export function chanceOf(rates: FaultRates, seed: number, clock: Clock): () => readonly FaultKind[] {
  const rateOf = (kind: FaultKind): number => (rates as Partial<Record<FaultKind, number>>)[kind] ?? 0;
  const drawn = faultKinds.filter((kind) => kind !== 'maintenance' && rateOf(kind) > 0);
  const random = randomFrom(seedOf(seed, 'faults'));
  const isMaintained = () => {
    const minute = Math.floor(clock.now() / MINUTE);
    return randomFrom(seedOf(seed, `maintenance ${minute}`)).next() < rateOf('maintenance');
  };
  return () => {
    const met = drawn.filter((kind) => random.next() < rateOf(kind));
    return isMaintained() ? ['maintenance', ...met] : met;
  };
}
