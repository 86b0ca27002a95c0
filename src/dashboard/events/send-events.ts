import type { DashboardContext, Exchange } from '../http/context.ts';
import { addEvent, isNone, noChanges, seenBy } from './changes.ts';
import { KEEPALIVE_INTERVAL_MS, type LiveStream, openStream } from './open-streams.ts';

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
