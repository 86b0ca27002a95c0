/**
 * Keeps the versions of the policies that this process reads: all of them for the page that shows what changed, and the
 * last ones, so that they are active again after a restart while their files cannot be read.
 */
import { asWritten } from '../policy/as-written.ts';
import type { Policy } from '../policy/policy.ts';
import type { PolicyWatcher } from '../policy/policy-watcher.ts';
import type { Records } from '../records/records.ts';
import type { PolicyAgreement } from '../schedule/policy-agreement.ts';
import type { Caretaker } from './caretaker.ts';

/**
 * Adds the version of each policy, unless it is the newest stored one. An error is logged: without the versions
 * everything but that page works.
 */
export function policyVersionsTo({
  records,
  registry,
  clock,
  log,
  settings,
}: Pick<Caretaker, 'records' | 'registry' | 'clock' | 'log' | 'settings'>) {
  const { keptMs } = settings.audit;
  // One reading after the other, so that an older version is never stored behind a newer one.
  let stored = Promise.resolve();
  const store = async (policies: readonly Policy[]): Promise<void> => {
    try {
      for (const policy of policies) {
        const { name, hash, file, line } = policy;
        const place = { file, ...(line === undefined ? {} : { line }) };
        const definition = asWritten(policy, registry);
        await records.versions.add(name, { at: clock.now(), hash, ...place, definition }, keptMs);
      }
    } catch (error) {
      log.warn({ err: error }, 'versions of policies could not be stored');
    }
  };
  return (policies: readonly Policy[]): Promise<void> => {
    stored = stored.then(() => store(policies));
    return stored;
  };
}

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
