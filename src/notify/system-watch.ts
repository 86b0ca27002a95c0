/** What a working process looks at now and then, for those who have it under `events`. */

import type { Clock } from '../clock.ts';
import { isoMinute } from '../clock.ts';
import type { Queues } from '../queue/queues.ts';
import type { Records } from '../records/records.ts';

/** How often. Costs three requests to Redis, and one for each queue. */
export const WATCH_INTERVAL_MS = 30_000;
/** When no one has worked for this long, that is reported. Longer than a restart. */
export const SILENT_MS = 5 * 60_000;

/** Records that this process works, and which queues are paused; each change has a notice, once. */
export async function watchSystem(deps: {
  records: Pick<Records, 'alerts'>;
  queues: Pick<Queues, 'paused'>;
  clock: Pick<Clock, 'now'>;
}): Promise<void> {
  const { records, queues, clock } = deps;
  const at = clock.now();
  await records.alerts.noteAlive(at, SILENT_MS, (since) => ({
    type: 'system',
    event: 'nobody-running',
    at,
    detail: `No daemon was recorded as working from ${isoMinute(since)} to ${isoMinute(at)}. Scheduled runs are caught up as their policies allow.`,
  }));
  const paused = await queues.paused();
  for (const name of paused) {
    const detail = `The queue "${name}" is paused, so its work waits. caretaker queues resume resumes it.`;
    await records.alerts.raise(`queue ${name}`, { type: 'system', event: 'queue-paused', at, detail });
  }
  for (const alert of await records.alerts.names('queue '))
    if (!paused.includes(alert.slice('queue '.length))) await records.alerts.clear(alert, at);
}
