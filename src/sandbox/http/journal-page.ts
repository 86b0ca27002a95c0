/**
 * The journal for people and other processes on this machine. It is not part of the API, so it needs no
 * token.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { EntryRange, OpenJournal } from '../journal.ts';

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
