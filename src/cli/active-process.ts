/** Whether a process works on a run, and what to do when none does. */
import type { OpenRecords } from '../app/open-records.ts';
import { supervisorLease } from '../engine/supervise/lease.ts';
import { refusalOf } from '../redis/health.ts';
import { RedisRefusesError } from '../redis/refusal.ts';
import { isFinal } from '../run/moves.ts';
import type { Run } from '../run/run.ts';
import { UsageError } from './exit.ts';

type Known = Pick<OpenRecords, 'records' | 'clock'>;

/** The process that works on the runs of an account, in words; nothing when none does. */
export async function findActiveProcess(
  { records, clock }: Known,
  account: string,
): Promise<string | undefined> {
  const [supervisor, here] = await Promise.all([
    records.locks.holder(supervisorLease(account)),
    records.presence.running(clock.now()),
  ]);
  // A daemon takes the lease within a second of a run's beginning.
  const daemon = here.find(({ id, roles }) =>
    supervisor === undefined ? roles.includes('worker') : id === supervisor,
  );
  if (daemon) return `the daemon on ${daemon.host} (pid ${daemon.pid})`;
  const [, host, pid] = /^(.+)\.(\d+)\.[^.]+$/.exec(supervisor ?? '') ?? [];
  return host === undefined ? supervisor : `a command on ${host} (pid ${pid})`;
}

/** Those of these runs that have not ended and that no process works on. */
export async function withoutActiveProcess(known: Known, runs: readonly Run[]): Promise<Run[]> {
  const open = runs.filter(({ status }) => !isFinal(status));
  const accounts = [...new Set(open.map(({ account }) => account))];
  const attended = await Promise.all(accounts.map((account) => findActiveProcess(known, account)));
  const idle = new Set(accounts.filter((_, index) => attended[index] === undefined));
  return open.filter(({ account }) => idle.has(account));
}

/** The two commands for a run that has not ended; `activeProcess` is the process that works on it. */
export function formatRunCommands(
  { id, ending }: Pick<Run, 'id' | 'ending'>,
  activeProcess?: string,
): string {
  if (ending) {
    return `Follow it to its end: caretaker runs continue ${id}\nEnd it at once:       caretaker runs cancel ${id} --force`;
  }
  return `${activeProcess ? 'Follow it:    ' : 'Continue it:  '} caretaker runs continue ${id}\nCancel it:     caretaker runs cancel ${id}`;
}

/**
 * @throws {UsageError} when nobody is there who could do the work. Also when Redis refuses to write: then
 * nobody can show it.
 */
export async function needWorker({
  records,
  clock,
  redis,
}: Known & Pick<OpenRecords, 'redis'>): Promise<void> {
  const here = await records.presence.running(clock.now());
  const refusal = await refusalOf(redis.store);
  if (refusal !== undefined) throw new RedisRefusesError(refusal);
  if (here.some(({ roles }) => roles.includes('worker'))) return;
  throw new UsageError(
    'No daemon is running on this Redis: start one ("caretaker daemon"), or omit --detach.',
  );
}
