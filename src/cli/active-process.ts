/** Runs that no process works on, and the commands for them. */
import type { OpenRecords } from '../app/open-records.ts';
import { refusalOf } from '../redis/health.ts';
import { RedisRefusesError } from '../redis/refusal.ts';
import { isFinal } from '../run/moves.ts';
import type { Run } from '../run/run.ts';
import { UsageError } from './exit.ts';

type OpenedRecords = Pick<OpenRecords, 'records' | 'clock'>;

/** Returns the runs that have not ended and that no process works on. */
export async function withoutActiveProcess(
  runs: readonly Run[],
  processOf: (run: Run) => Promise<string | undefined>,
): Promise<Run[]> {
  const open = runs.filter(({ status }) => !isFinal(status));
  // One process works on all runs of an account.
  const oneOfEach = new Map(open.map((run) => [run.account, run]));
  const processes = await Promise.all([...oneOfEach.values()].map(processOf));
  const idle = new Set([...oneOfEach.keys()].filter((_, index) => processes[index] === undefined));
  return open.filter(({ account }) => idle.has(account));
}

/**
 * The two commands that apply to a run that has not ended. `activeProcess` is the process that works on it.
 */
export function formatRunCommands(
  { id, ending, status, held }: Pick<Run, 'id' | 'ending' | 'status' | 'held'>,
  activeProcess?: string,
): string {
  if (status === 'awaiting-approval')
    return `Approve it:    caretaker approvals approve ${id}\nReject it:     caretaker approvals reject ${id}`;
  if (held && !ending)
    return `Check the account: targets may have been changed already.\nRelease it:    caretaker runs resume ${id} --release\nCancel it:     caretaker runs cancel ${id}`;
  if (ending) {
    return `Follow it to its end: caretaker runs resume ${id}\nForce-end it:         caretaker runs cancel ${id} --force`;
  }
  return `${activeProcess ? 'Follow it:    ' : 'Continue it:  '} caretaker runs resume ${id}\nCancel it:     caretaker runs cancel ${id}`;
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
