/** A changed policy that may do what cannot be undone waits: a person may still be writing or correcting its file. */
import type { Registry } from '../job/registry.ts';
import { verifiedOperations } from '../job/verify.ts';
import type { Policy } from '../policy/policy.ts';
import { jobOf } from '../policy/policy-job.ts';
import type { PolicyWatcher } from '../policy/policy-watcher.ts';

/** From a change until a run on schedule begins; the files are looked at every few seconds. */
const WAIT_MS = 60_000;

/** Until when the runs on schedule of a policy wait. */
export const waitsUntil =
  (registry: Pick<Registry, 'get'>, { changedAt }: Pick<PolicyWatcher, 'changedAt'>) =>
  (policy: Policy): number =>
    canDestroy(registry, policy) ? changedAt(policy.name) + WAIT_MS : 0;

/** Whether its job has changes that are verified directly before they are made: deletions, mails, migrations. */
function canDestroy(registry: Pick<Registry, 'get'>, policy: Policy): boolean {
  const job = jobOf(registry, policy);
  return job === undefined || verifiedOperations(job, policy.options).length > 0;
}
