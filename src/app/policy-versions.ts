/** Keeps the versions of the policies that this process reads, for the page that shows what changed. */
import { asWritten } from '../policy/as-written.ts';
import type { Policy } from '../policy/policy.ts';
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
