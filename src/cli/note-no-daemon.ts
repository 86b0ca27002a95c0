/** A change that is recorded where no daemon has ever run: the daemon may use another Redis. */
import type { OpenRecords } from '../app/open-records.ts';
import type { Clock } from '../clock.ts';
import type { Terminal } from './output/terminal.ts';

/** Prints one line if no daemon has ever run on this Redis. */
export async function noteNoDaemon(
  { records, redis, clock }: Pick<OpenRecords, 'records' | 'redis'> & { clock: Pick<Clock, 'now'> },
  terminal: Terminal,
): Promise<void> {
  if (await records.alerts.hasWorked()) return;
  if ((await records.presence.ids(clock.now())).length > 0) return;
  terminal.message(
    `${terminal.paint('yellow', 'warning')}: No daemon has ever run on this Redis (${redis.where}). If one runs, it uses another data_dir or REDIS_URL, and does not see this.`,
  );
}
