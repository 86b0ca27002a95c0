import type { Principal } from '../../access/principal.ts';
import { localPath } from '../auth/origin.ts';
import { withoutBase } from '../http/base-path.ts';
import type { DashboardContext, Exchange } from '../http/context.ts';
import { KEEPALIVE_INTERVAL_MS, type LiveStream, openStream } from './open-streams.ts';

/** Longer addresses are of no page of ours. */
const MAX_PATH = 2_000;

/**
 * Streams what changes on a page that somebody has open: `?page=` its address, `&since=` when it was made. A
 * slow reader gets fewer and larger messages, never a backlog.
 */
export function sendPage(c: Exchange, context: DashboardContext): Response | Promise<Response> {
  const path = localPath(withoutBase(c.req.query('page') ?? '/', context.basePath));
  const since = Number(c.req.query('since')) || 0;
  if (path.length > MAX_PATH) return c.text('The address of the page is too long.\n', 400);
  return openStream(c, context, (live) => streamPage(live, context, path, since));
}

async function streamPage(
  { stream, admitted, ended }: LiveStream,
  { livePages }: DashboardContext,
  path: string,
  since: number,
): Promise<void> {
  const first = admitted();
  if (!first || ended.aborted) return;
  const reader = livePages.follow(path, first, since);
  // With other permissions the browser connects again.
  const isAdmitted = () => isSame(first, admitted());
  try {
    while (isAdmitted() && !ended.aborted) {
      const delta = await reader.next(KEEPALIVE_INTERVAL_MS, ended);
      if (!isAdmitted() || ended.aborted) break;
      if (delta === undefined) await stream.write(': still here\n\n');
      else await stream.writeSSE({ event: 'page', data: delta });
    }
  } finally {
    reader.close();
  }
}

const isSame = (one: Principal, other: Principal | undefined): boolean =>
  JSON.stringify(one.grants) === JSON.stringify(other?.grants);
