/**
 * What the sandbox received and did: the evidence in tests about effects that must happen once.
 *
 * A request is recorded when its result is decided. An effect is recorded in the same step as the change of
 * the world, so that neither exists without the other, whatever happens to the answer.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { OperationId } from '../contract/operations.ts';
import type { FaultKind } from './faults.ts';

export interface JournaledRequest {
  /**
   * By the clock that the sandbox was given, in milliseconds since 1970 (not the service's own, faster time).
   */
  at: number;
  /** Null when no operation of the contract has this method and path. */
  operation: OperationId | null;
  method: string;
  path: string;
  /** The query string, without its question mark. */
  query: string;
  /** The status that the service gave, even if a fault prevented its delivery; 0 if it did not answer. */
  status: number;
  /** The duration of answering, in real milliseconds. */
  ms: number;
  /** The fault that affected the request. */
  fault?: FaultKind;
  /** The error of the sandbox itself, when the status is its own 500. */
  mistake?: string;
}

export interface JournaledEffect {
  at: number;
  operation: OperationId;
  /**
   * The id of what was changed: the site that was synced, the tag that was created, the site that was tagged.
   */
  resource: string;
}

/** Counts by operation. They include entries that were already dropped. */
export type Totals = Partial<Record<OperationId, number>>;

export interface Journal {
  /** Oldest first; only the most recent ones, see `SandboxOptions.journal`. */
  readonly requests: readonly JournaledRequest[];
  readonly effects: readonly JournaledEffect[];
  readonly totals: { readonly requests: Totals; readonly effects: Totals };
  /** The resources that an operation changed, in the order of the changes. */
  effectsOf(operation: OperationId): string[];
  /** How many requests of an operation were received, whatever the answer was. */
  countOf(operation: OperationId): number;
}

/** A range of entries: the newest, or those after the one with a number. The first entry has number 1. */
export interface EntryRange {
  after?: number;
  limit: number;
}

/** Entries in order, and the number of the last of them (or of the one before, when there are none). */
export interface Shown<T> {
  entries: readonly T[];
  last: number;
}

/** The journal with its write methods, for the sandbox only. */
export interface OpenJournal extends Journal {
  /** Returns the number of the entry. */
  noteRequest(request: JournaledRequest): number;
  noteEffect(effect: JournaledEffect): void;
  requestsIn(range: EntryRange): Shown<JournaledRequest>;
  effectsIn(range: EntryRange): Shown<JournaledEffect>;
}

/** Opens an empty journal that keeps the last `limit` requests and as many effects. */
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
      return requests.count();
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

/** A list that drops its oldest entries, at once for every `limit` entries rather than one by one. */
function bounded<T>(limit: number) {
  let entries: T[] = [];
  let forgotten = 0;
  return {
    shown({ after, limit: most }: EntryRange): Shown<T> {
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
    count: (): number => forgotten + entries.length,
    kept: (): readonly T[] => (entries.length > limit ? entries.slice(entries.length - limit) : entries),
  };
}

// The journal for people and other processes on this machine. It is not part of the API, so it needs no
// token.

/** Outside the API's path (spec 9). */
export const JOURNAL_PATH = '/__sandbox/journal';

/** The default and maximum number of requests, and of effects, in one answer. */
const USUAL = 1_000;
const MAX_ENTRIES = 10_000;

/**
 * Shows a range of the journal: the newest entries, or with `requests_after` and `effects_after` those after
 * a number. `next` has the numbers for the next call, so that a reader sees each entry once. Loopback only.
 */
export function showJournal(
  journal: OpenJournal,
  query: URLSearchParams,
  request: IncomingMessage,
  response: ServerResponse,
): void {
  const from = request.socket.remoteAddress ?? '';
  if (!/^(::ffff:)?127\.|^::1$/.test(from)) {
    response.writeHead(403).end();
    return;
  }
  const rangeOf = (name: string): EntryRange => {
    const after = numberIn(query, name);
    return {
      limit: Math.min(numberIn(query, 'limit') ?? USUAL, MAX_ENTRIES),
      ...(after !== undefined && { after }),
    };
  };
  const requests = journal.requestsIn(rangeOf('requests_after'));
  const effects = journal.effectsIn(rangeOf('effects_after'));
  const shown = {
    totals: journal.totals,
    requests: requests.entries,
    effects: effects.entries,
    next: { requests_after: requests.last, effects_after: effects.last },
  };
  response.writeHead(200, { 'Content-Type': 'application/json; charset=utf-8' }).end(JSON.stringify(shown));
}

function numberIn(query: URLSearchParams, name: string): number | undefined {
  const text = query.get(name);
  return text !== null && /^\d+$/.test(text) ? Number(text) : undefined;
}
