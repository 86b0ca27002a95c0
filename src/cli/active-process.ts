/** Finds the process that works on a run, and formats the commands for a run that has none. */
import type { OpenRecords } from '../app/open-records.ts';
import { supervisorLease } from '../engine/supervise/lease.ts';
import { refusalOf } from '../redis/health.ts';
import { RedisRefusesError } from '../redis/refusal.ts';
import { isFinal } from '../run/moves.ts';
import type { Run } from '../run/run.ts';
import { UsageError } from './exit.ts';

type OpenedRecords = Pick<OpenRecords, 'records' | 'clock'>;

/** A description of the process that works on the runs of an account; undefined when there is none. */
export async function findActiveProcess(
  { records, clock }: OpenedRecords,
  account: string,
): Promise<string | undefined> {
  const [supervisor, running] = await Promise.all([
    records.locks.holder(supervisorLease(account)),
    records.presence.running(clock.now()),
  ]);
  // A daemon takes the lease within a second after a run starts. Until then, any worker counts.
  const daemon = running.find(({ id, roles }) =>
    supervisor === undefined ? roles.includes('worker') : id === supervisor,
  );
  if (daemon) return `the daemon on ${daemon.host} (pid ${daemon.pid})`;
  const [, host, pid] = /^(.+)\.(\d+)\.[^.]+$/.exec(supervisor ?? '') ?? [];
  return host === undefined ? supervisor : `a command on ${host} (pid ${pid})`;
}

/** Returns the runs that have not ended and that no process works on. */
export async function withoutActiveProcess(opened: OpenedRecords, runs: readonly Run[]): Promise<Run[]> {
  const open = runs.filter(({ status }) => !isFinal(status));
  const accounts = [...new Set(open.map(({ account }) => account))];
  const processes = await Promise.all(accounts.map((account) => findActiveProcess(opened, account)));
  const idle = new Set(accounts.filter((_, index) => processes[index] === undefined));
  return open.filter(({ account }) => idle.has(account));
}

/**
 * The two commands that apply to a run that has not ended. `activeProcess` is the process that works on it.
 */
export function formatRunCommands(
  { id, ending }: Pick<Run, 'id' | 'ending'>,
  activeProcess?: string,
): string {
  if (ending) {
    return `Follow it to its end: caretaker runs continue ${id}\nForce-end it:         caretaker runs cancel ${id} --force`;
  }
  return `${activeProcess ? 'Follow it:    ' : 'Continue it:  '} caretaker runs continue ${id}\nCancel it:     caretaker runs cancel ${id}`;
}

/**
 * Checks that a daemon can take over the work (`--detach`).
 *
 * @throws {UsageError} when no worker is running.
 * @throws {RedisRefusesError} when Redis refuses writes, because a worker cannot register itself then.
 */
export async function needWorker({
  records,
  clock,
  redis,
}: OpenedRecords & Pick<OpenRecords, 'redis'>): Promise<void> {
  const running = await records.presence.running(clock.now());
  const refusal = await refusalOf(redis.store);
  if (refusal !== undefined) throw new RedisRefusesError(refusal);
  if (running.some(({ roles }) => roles.includes('worker'))) return;
  throw new UsageError(
    'No daemon with the role worker is running on this Redis. Start one with "caretaker daemon", or omit --detach.',
  );
}
