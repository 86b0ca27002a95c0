import { type SSEStreamingApi, streamSSE } from 'hono/streaming';
import { isSignedIn, sessionIn } from '../auth/cookie.ts';
import { addressOf } from '../auth/guard.tsx';
import type { DashboardContext, Exchange } from '../http/context.ts';

/** What changed since the last message of a stream: names only. Readers request the new state themselves. */
interface Changes {
  runs: Set<string>;
  policies: Set<string>;
}

/** A stream has at most one message in this time, however fast a run goes. */
const MESSAGE_INTERVAL_MS = 1_000;
/** A comment is sent after so much silence: proxies keep the connection, and lost ones are noticed. */
const KEEPALIVE_INTERVAL_MS = 20_000;
const MAX_STREAMS = 200;
/** Of one session, or of one address for programs, so that one reader cannot use up all streams. */
const MAX_STREAMS_OF_ONE = 20;
/** The number of open streams by owner. */
const streamsOf = new WeakMap<DashboardContext, Map<string, number>>();

/**
 * Streams which runs and policies changed (server-sent events). A slow reader gets fewer and larger messages,
 * never a backlog.
 */
export function sendEvents(c: Exchange, context: DashboardContext): Response | Promise<Response> {
  const open = streamsOf.get(context) ?? new Map<string, number>();
  streamsOf.set(context, open);
  const signedIn = isSignedIn(c, context);
  const owner = signedIn ? `session ${sessionIn(c, context)}` : `address ${addressOf(c)}`;
  const own = open.get(owner) ?? 0;
  if (own >= MAX_STREAMS_OF_ONE)
    return c.text(`At most ${MAX_STREAMS_OF_ONE} live streams may be open in one session.\n`, 429);
  if ([...open.values()].reduce((sum, count) => sum + count, 0) >= MAX_STREAMS)
    return c.text('Too many live streams are open.\n', 503);
  open.set(owner, own + 1);
  return streamSSE(c, async (stream) => {
    const ended = endOf(stream, context.closing);
    // A stream ends with its session. A program has sent the password.
    const isAdmitted = signedIn ? () => isSignedIn(c, context) : () => true;
    try {
      await streamChanges(stream, isAdmitted, context, ended);
    } finally {
      const left = (open.get(owner) ?? 1) - 1;
      if (left === 0) open.delete(owner);
      else open.set(owner, left);
    }
  });
}

async function streamChanges(
  stream: SSEStreamingApi,
  isAdmitted: () => boolean,
  context: DashboardContext,
  ended: AbortSignal,
): Promise<void> {
  let changes: Changes = { runs: new Set(), policies: new Set() };
  let wake = new AbortController();
  const stop = context.eventBus.on((event) => {
    if ('run' in event) changes.runs.add(event.run);
    if ('policy' in event) changes.policies.add(event.policy);
    // A freeze concerns every policy.
    if (event.type === 'freeze.changed') changes.policies.add('*');
    wake.abort();
  });
  try {
    await stream.writeSSE({ event: 'hello', data: '{}' });
    while (!ended.aborted && isAdmitted()) {
      await context.clock.sleep(KEEPALIVE_INTERVAL_MS, AbortSignal.any([wake.signal, ended]));
      const { runs, policies } = changes;
      changes = { runs: new Set(), policies: new Set() };
      wake = new AbortController();
      if (runs.size + policies.size === 0) await stream.write(': still here\n\n');
      else
        await stream.writeSSE({
          event: 'changed',
          data: JSON.stringify({ runs: [...runs], policies: [...policies] }),
        });
      await context.clock.sleep(MESSAGE_INTERVAL_MS, ended);
    }
  } finally {
    stop();
  }
}

/** Aborts when the page goes away or the dashboard closes. */
function endOf(stream: SSEStreamingApi, closing: AbortSignal): AbortSignal {
  const gone = new AbortController();
  stream.onAbort(() => gone.abort());
  return AbortSignal.any([gone.signal, closing]);
}
