/**
 * What the sandbox saw and did: the witness in every test about doing things once.
 *
 * A request is written when its fate is known. An effect is written in the same step as the change of the
 * world, so that one is there exactly when the other is, whatever becomes of the answer.
 */
import type { OperationId } from '../contract/operations.ts';
import type { FaultKind } from './faults.ts';

export interface JournaledRequest {
  /** By the clock the sandbox was given, in milliseconds since 1970 (not the service's own, faster time). */
  at: number;
  /** Null where no operation of the contract has this method and path. */
  operation: OperationId | null;
  method: string;
  path: string;
  /** The query string, without its question mark. */
  query: string;
  /** The status we answered, even if a fault kept it from arriving; 0 where we never came to answer. */
  status: number;
  /** How long answering took, in real milliseconds. */
  ms: number;
  /** The fault that the request met. */
  fault?: FaultKind;
  /** What the sandbox itself did wrong, when the status is its own 500. */
  mistake?: string;
}

export interface JournaledEffect {
  at: number;
  operation: OperationId;
  /**
   * The id of what was changed: the site that was synced, the tag that was made, the site that was tagged.
   */
  resource: string;
}

/**
 * How often something happened, by operation. Exact, however long ago the entries themselves were dropped.
 */
export type Totals = Partial<Record<OperationId, number>>;

export interface Journal {
  /** Oldest first; the most recent ones only, see `SandboxOptions.journal`. */
  readonly requests: readonly JournaledRequest[];
  readonly effects: readonly JournaledEffect[];
  readonly totals: { readonly requests: Totals; readonly effects: Totals };
  /** The resources that an operation changed, in the order of the changes. */
  effectsOf(operation: OperationId): string[];
  /** How many requests came for an operation, whatever was answered. */
  countOf(operation: OperationId): number;
}

/**
 * Which entries: the newest, or those that follow the one with a number; the first entry of all has number 1.
 */
export interface Stretch {
  after?: number;
  limit: number;
}

/**
 * Entries in their order, and the number of the last of them (or of the last one before, when there are
 * none).
 */
export interface Shown<T> {
  entries: readonly T[];
  last: number;
}

/** The same journal with the pen, for the sandbox alone. */
export interface OpenJournal extends Journal {
  noteRequest(request: JournaledRequest): void;
  noteEffect(effect: JournaledEffect): void;
  requestsIn(stretch: Stretch): Shown<JournaledRequest>;
  effectsIn(stretch: Stretch): Shown<JournaledEffect>;
}

/** Starts an empty journal that keeps the last `limit` requests and as many effects. */
export function openJournal(limit: number): OpenJournal {
  const requests = bounded<JournaledRequest>(limit);
  const effects = bounded<JournaledEffect>(limit);
  const totals: { requests: Totals; effects: Totals } = { requests: {}, effects: {} };
  return {
    totals,
    get requests() {
      return requests.kept();
    },
    get effects() {
      return effects.kept();
    },
    effectsOf: (operation) =>
      effects
        .kept()
        .filter((effect) => effect.operation === operation)
        .map((effect) => effect.resource),
    countOf: (operation) => totals.requests[operation] ?? 0,
    requestsIn: requests.shown,
    effectsIn: effects.shown,
    noteRequest(request) {
      requests.add(request);
      if (request.operation) increase(totals.requests, request.operation);
    },
    noteEffect(effect) {
      effects.add(effect);
      increase(totals.effects, effect.operation);
    },
  };
}

function increase(totals: Totals, operation: OperationId): void {
  totals[operation] = (totals[operation] ?? 0) + 1;
}

/** A list that forgets its oldest entries, in one go for every `limit` entries rather than one by one. */
function bounded<T>(limit: number) {
  let entries: T[] = [];
  let forgotten = 0;
  return {
    shown({ after, limit: most }: Stretch): Shown<T> {
      const end = forgotten + entries.length;
      const from = Math.max(after === undefined ? end - most : after, end - limit, forgotten);
      const shown = entries.slice(Math.max(0, from - forgotten), Math.max(0, from - forgotten) + most);
      return { entries: shown, last: Math.min(from, end) + shown.length };
    },
    add(entry: T) {
      entries.push(entry);
      if (entries.length < limit * 2) return;
      forgotten += entries.length - limit;
      entries = entries.slice(entries.length - limit);
    },
    kept: (): readonly T[] => (entries.length > limit ? entries.slice(entries.length - limit) : entries),
  };
}
