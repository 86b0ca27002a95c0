import type { Principal } from '../../access/principal.ts';
import { localPath } from '../auth/origin.ts';
import { withoutBase } from '../http/base-path.ts';
import type { DashboardContext, Exchange } from '../http/context.ts';
import { redisAnswers } from '../queries/redis-answers.ts';
import { type LiveStream, openStream } from './open-streams.ts';

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
