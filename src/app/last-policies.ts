/** Stores which policies are active, so that they are active again after a restart while their files cannot be read. */
import type { PolicyWatcher } from '../policy/policy-watcher.ts';
import type { Records } from '../records/records.ts';
import type { PolicyAgreement } from '../schedule/policy-agreement.ts';

/**
 * Stores the versions that this process fires, when they change or are missing; of daemons with different files, each
 * stores its part. What no daemon has any more is forgotten. Costs one request to Redis while nothing changes.
 */
export function lastPoliciesTo(
  { lastPolicies }: Pick<Records, 'lastPolicies'>,
  watcher: Pick<PolicyWatcher, 'last'>,
  agreement: Pick<PolicyAgreement, 'active' | 'names'>,
): () => Promise<void> {
  let stored = new Map<string, string>();
  const look = async () => {
    const active = new Set(agreement.active().map(({ name }) => name));
    const last = watcher.last().filter(({ name }) => active.has(name));
    const known = agreement.names();
    const names = await lastPolicies.names();
    const present = new Set(names);
    const version = ({ hash, file, changedAt }: (typeof last)[number]) => `${hash} ${changedAt} ${file}`;
    await lastPolicies.set(
      last.filter((one) => !present.has(one.name) || stored.get(one.name) !== version(one)),
    );
    await lastPolicies.remove(names.filter((name) => !known.has(name)));
    stored = new Map(last.map((one) => [one.name, version(one)]));
  };
  // One look after the other, so that an older version is never stored over a newer one.
  let looks = Promise.resolve();
  return () => {
    const done = looks.then(look);
    looks = done.catch(() => undefined);
    return done;
  };
}
