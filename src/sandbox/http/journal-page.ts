/** The journal for people and other processes on this machine; not part of the API, so it needs no token. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { OpenJournal, Stretch } from '../journal.ts';

/** Beside the API (spec 9 gives it a path of its own). */
export const JOURNAL_PATH = '/__sandbox/journal';

/** How many requests, and as many effects, are shown when it is not said, and at most. */
const USUAL = 1_000;
const MAX_ENTRIES = 10_000;

/**
 * Shows a stretch of the journal: the newest entries, or with `requests_after` and `effects_after` those that
 * follow a number. `next` has the numbers to go on from, so that a reader who keeps up sees each entry once.
 * Loopback only.
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
  const stretchOf = (name: string): Stretch => {
    const after = numberIn(query, name);
    return {
      limit: Math.min(numberIn(query, 'limit') ?? USUAL, MAX_ENTRIES),
      ...(after !== undefined && { after }),
    };
  };
  const requests = journal.requestsIn(stretchOf('requests_after'));
  const effects = journal.effectsIn(stretchOf('effects_after'));
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
