import { type SSEStreamingApi, streamSSE } from 'hono/streaming';
import type { Principal } from '../../access/principal.ts';
import { programNow } from '../auth/attempt.ts';
import { addressOf } from '../auth/client-address.ts';
import { sessionIn, sessionPrincipal } from '../auth/cookie.ts';
import type { Sessions } from '../auth/sessions.ts';
import type { DashboardContext, Exchange } from '../http/context.ts';

/** A comment is sent after so much silence: proxies keep the connection, and lost ones are noticed. */
export const KEEPALIVE_INTERVAL_MS = 20_000;
/** A browser connects again after this time. */
const RETRY_MS = 1_000;
const MAX_STREAMS = 200;
/** Of one session, or of one address for programs, so that one reader cannot use up all streams. */
const MAX_STREAMS_OF_ONE = 20;
/** The number of open streams by owner. */
const streamsOf = new WeakMap<Sessions, Map<string, number>>();

export interface LiveStream {
  stream: SSEStreamingApi;
  /** Who receives it; undefined when the session has ended, or the token was removed from the settings. */
  admitted: () => Principal | undefined;
  /** Aborts when the receiver goes away or the dashboard closes. */
  ended: AbortSignal;
}

/** Answers with server-sent events, unless too many streams are open. The first one is `hello`. */
export function openStream(
  c: Exchange,
  context: DashboardContext,
  send: (stream: LiveStream) => Promise<void>,
): Response {
  const open = streamsOf.get(context.sessions) ?? new Map<string, number>();
  streamsOf.set(context.sessions, open);
  const signedIn = sessionPrincipal(c, context) !== undefined;
  const owner = signedIn ? `session ${sessionIn(c, context)}` : `address ${addressOf(c)}`;
  const own = open.get(owner) ?? 0;
  if (own >= MAX_STREAMS_OF_ONE)
    return c.text(`At most ${MAX_STREAMS_OF_ONE} live streams may be open in one session.\n`, 429);
  if ([...open.values()].reduce((sum, count) => sum + count, 0) >= MAX_STREAMS)
    return c.text('Too many live streams are open.\n', 503);
  open.set(owner, own + 1);
  const answer = streamSSE(c, async (stream) => {
    try {
      await stream.writeSSE({ event: 'hello', data: '{}', retry: RETRY_MS });
      await send({
        stream,
        admitted: signedIn ? () => sessionPrincipal(c, context) : () => programNow(c, context),
        ended: endOf(stream, context.closing),
      });
    } finally {
      const left = (open.get(owner) ?? 1) - 1;
      if (left === 0) open.delete(owner);
      else open.set(owner, left);
    }
  });
  // A proxy that collects or compresses the messages would make live pages stand still.
  answer.headers.set('X-Accel-Buffering', 'no');
  answer.headers.set('Cache-Control', 'no-store, no-transform');
  return answer;
}

function endOf(stream: SSEStreamingApi, closing: AbortSignal): AbortSignal {
  const gone = new AbortController();
  stream.onAbort(() => gone.abort());
  return AbortSignal.any([gone.signal, closing]);
}
