import { z } from 'zod';
import { supervisorLease } from '../../engine/supervise/lease.ts';
import { type BaseDeps, defineCommand } from '../command.ts';
import { runId } from '../fields.ts';
import { runOf, subjectOfRun } from '../runs.ts';

export const findProcess = defineCommand()({
  name: 'runs.process',
  summary: 'Shows which process works on the runs of an account, by one of them.',
  role: 'viewer',
  reads: true,
  path: '/runs/{run}/process',
  input: z.strictObject({ run: runId }),
  subject: subjectOfRun,
  carryOut: async ({ run }, deps) => findActiveProcess(deps, (await runOf(deps, run)).account),
  answer: z.object({
    process: z.string().nullable().describe('In words, with its machine; null when none works on it.'),
  }),
  toAnswer: (process) => ({ process: process ?? null }),
});

/**
 * A description of the process that works on the runs of an account: `the daemon on web-1 (pid 812)`; undefined when
 * there is none.
 */
export async function findActiveProcess(
  { records, clock }: Pick<BaseDeps, 'records' | 'clock'>,
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
