/** The policies that commands work with, as the process that carries them out knows them. */
import { z } from 'zod';
import { isPermitted, type Principal } from '../access/principal.ts';
import type { Policy } from '../policy/policy.ts';
import type { BaseDeps } from './command.ts';
import { NotFoundError, NoWorkerError } from './errors.ts';

export interface PolicyDeps {
  /** The active policy with this name. */
  policy(name: string): Policy | undefined;
}

export interface AllPolicies {
  /** The active policies. */
  policies(): readonly Policy[];
}

/** Those of them that a principal may see. */
export const seenPolicies = ({ policies }: AllPolicies, principal: Principal): Policy[] =>
  policies().filter(({ name, account }) => isPermitted(principal, 'viewer', { policy: name, account }));

/** @throws {NotFoundError} */
export function needPolicy({ policy }: PolicyDeps, name: string): Policy {
  const found = policy(name);
  if (!found) throw new NotFoundError(`No active policy has the name "${name}".`);
  return found;
}

/** How many of these processes start runs by schedule. */
export const schedulersIn = (processes: readonly { roles: readonly string[] }[]): number =>
  processes.filter(({ roles }) => roles.includes('scheduler')).length;

export const Schedulers = z
  .int()
  .describe('How many daemons start runs by schedule. With none, nothing starts at its time.');

/** @throws {NoWorkerError} when no daemon would do the work. */
export async function needWorker({ records, clock }: BaseDeps): Promise<void> {
  const processes = await records.presence.running(clock.now());
  if (!processes.some(({ roles }) => roles.includes('worker')))
    throw new NoWorkerError(
      'No daemon with the worker role is running on this Redis: start one (caretaker daemon).',
    );
}

/** The principal, as it is stored with a run. */
export const startedBy = ({ principal: { kind, name } }: { principal: { kind: string; name: string } }) => ({
  kind,
  name,
});
