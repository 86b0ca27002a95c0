import type { Principal } from '../../access/principal.ts';
import { localPath } from '../auth/origin.ts';
import { withoutBase } from '../http/base-path.ts';
import type { DashboardContext, Exchange } from '../http/context.ts';
import { redisAnswers } from '../queries/redis-answers.ts';
import { addEvent, isNone, noChanges, seenBy } from './changes.ts';
import { KEEPALIVE_INTERVAL_MS, type LiveStream, openStream } from './open-streams.ts';

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
  const first = admitted();
  if (!first || ended.aborted) return;
  const reader = path === undefined ? undefined : livePages.follow(path, first, since);
  // With other permissions the browser connects again.
  const isAdmitted = () => isSame(first, admitted());
  try {
    while (isAdmitted() && !ended.aborted) {
      const data = (await redisAnswers(control.records)) ? '' : 'redis';
      await stream.writeSSE({ event: 'pulse', data });
      if (!reader) await clock.sleep(PULSE_INTERVAL_MS, ended);
      const delta = await reader?.next(PULSE_INTERVAL_MS, ended);
      if (!isAdmitted() || ended.aborted) break;
      if (delta !== undefined) await stream.writeSSE({ event: 'page', data: delta });
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
    for (let principal = admitted(); principal && !ended.aborted; principal = admitted()) {
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
