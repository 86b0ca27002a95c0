import { type SSEStreamingApi, streamSSE } from 'hono/streaming';
import type { Principal } from '../../access/principal.ts';
import { programNow } from '../auth/attempt.ts';
import { addressOf } from '../auth/client-address.ts';
import { findSession, principalOfSession } from '../auth/cookie.ts';
import { localPath } from '../auth/origin.ts';
import type { Sessions } from '../auth/sessions.ts';
import { withoutBase } from '../http/base-path.ts';
import type { DashboardContext, Exchange } from '../http/context.ts';
import { redisAnswers } from '../http/in-time.ts';
import { addEvent, isNone, noChanges, seenBy } from './changes.ts';

/** An open page is told in this interval that the server and Redis are there. */
const PULSE_INTERVAL_MS = 2_000;
/** Longer addresses are of no page of ours. */
const MAX_PATH = 2_000;

/**
 * Streams what changes on a page that a person has open: `?page=` its address, `&since=` when it was made. A
 * slow reader gets fewer and larger messages, never a backlog. Without a page it only says that the server is there,
 * and whether Redis is.
 */
export function sendPage(c: Exchange, context: DashboardContext): Response | Promise<Response> {
  const page = c.req.query('page');
  const path = page === undefined ? undefined : localPath(withoutBase(page, context.basePath));
  const since = Number(c.req.query('since')) || 0;
  if (path !== undefined && path.length > MAX_PATH)
    return c.text('The address of the page is too long.\n', 400);
  return openStream(c, context, (live) => streamPage(live, context, path, since));
}

async function streamPage(
  { stream, admitted, ended }: LiveStream,
  { livePages, clock, control }: DashboardContext,
  path: string | undefined,
  since: number,
): Promise<void> {
  const first = await admitted();
  if (!first || ended.aborted) return;
  const reader = path === undefined ? undefined : livePages.follow(path, first, since);
  // With other permissions the browser connects again.
  const isAdmitted = async () => isSame(first, await admitted());
  try {
    for (;;) {
      // Asked together: while Redis is away, each waits for an answer, and the page is to learn it at once.
      const [answers, isIn] = await Promise.all([redisAnswers(control.records), isAdmitted()]);
      if (!isIn || ended.aborted) break;
      const data = !answers ? 'redis' : reader?.isGone() ? 'gone' : '';
      await stream.writeSSE({ event: 'pulse', data });
      if (!reader) await clock.sleep(PULSE_INTERVAL_MS, ended);
      const delta = await reader?.next(PULSE_INTERVAL_MS, ended);
      if (delta === undefined) continue;
      if (!(await isAdmitted()) || ended.aborted) break;
      await stream.writeSSE({ event: 'page', data: delta });
    }
  } finally {
    reader?.close();
  }
}

const isSame = (one: Principal, other: Principal | undefined): boolean =>
  JSON.stringify(one.grants) === JSON.stringify(other?.grants);

/** A stream has at most one message in this time, however fast a run goes. */
const MESSAGE_INTERVAL_MS = 1_000;

/**
 * Streams to programs which runs and policies changed: names only. A slow reader gets fewer and larger messages,
 * never a backlog.
 */
export const sendEvents = (c: Exchange, context: DashboardContext): Response | Promise<Response> =>
  openStream(c, context, (live) => streamChanges(live, context));

async function streamChanges(
  { stream, admitted, ended }: LiveStream,
  context: DashboardContext,
): Promise<void> {
  let changes = noChanges();
  let wake = new AbortController();
  const stop = context.eventBus.on((event) => {
    addEvent(changes, event);
    wake.abort();
  });
  try {
    for (let principal = await admitted(); principal && !ended.aborted; principal = await admitted()) {
      await context.clock.sleep(KEEPALIVE_INTERVAL_MS, AbortSignal.any([wake.signal, ended]));
      const collected = changes;
      changes = noChanges();
      wake = new AbortController();
      const seen = await seenBy(principal, collected, context);
      if (isNone(seen)) await stream.write(': still here\n\n');
      else
        await stream.writeSSE({
          event: 'changed',
          data: JSON.stringify({ runs: [...seen.runs], policies: [...seen.policies] }),
        });
      await context.clock.sleep(MESSAGE_INTERVAL_MS, ended);
    }
  } finally {
    stop();
  }
}

/** A comment is sent after so much silence: proxies keep the connection, and lost ones are noticed. */
const KEEPALIVE_INTERVAL_MS = 20_000;
/** A browser connects again after this time. */
const RETRY_MS = 1_000;
const MAX_STREAMS = 200;
/** Of one session, or of one address for programs, so that one reader cannot use up all streams. */
const MAX_STREAMS_OF_ONE = 20;
/** The number of open streams by owner. */
const streamsOf = new WeakMap<Sessions, Map<string, number>>();

interface LiveStream {
  stream: SSEStreamingApi;
  /** Who receives it; undefined when the session has ended, or the token was removed from the settings. */
  admitted: () => Promise<Principal | undefined>;
  /** Aborts when the receiver goes away or the dashboard closes. */
  ended: AbortSignal;
}

/** Answers with server-sent events, unless too many streams are open. The first one is `hello`. */
function openStream(
  c: Exchange,
  context: DashboardContext,
  send: (stream: LiveStream) => Promise<void>,
): Response {
  const open = streamsOf.get(context.sessions) ?? new Map<string, number>();
  streamsOf.set(context.sessions, open);
  const sent = c.get('session');
  const session = principalOfSession(sent, context) && sent;
  const owner = session ? `session ${session.hash}` : `address ${addressOf(c)}`;
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
        admitted: async () =>
          session
            ? principalOfSession(await findSession(c, context, false).catch(() => undefined), context)
            : programNow(c, context),
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
