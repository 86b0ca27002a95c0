/** Policies that daemons keep active while their files have errors. */
import { isoMinute } from '../clock.ts';
import { Policy } from '../policy/policy.ts';
import { keys } from '../records/keys.ts';
import { checkRecord } from '../records/parse-record.ts';
import type { KeptPolicy } from '../records/presence-store.ts';
import type { Records } from '../records/records.ts';
import type { Settings } from '../settings/settings.ts';
import { shortFile } from '../yaml/diagnostic.ts';
import { noSuchPolicy, policiesOf } from './context.ts';

export interface Kept extends KeptPolicy {
  policy: Policy;
}

/**
 * The policies that a daemon keeps active although their files have errors; of several daemons, the first
 * one's.
 */
export async function keptByDaemons(records: Pick<Records, 'presence'>, now: number): Promise<Kept[]> {
  const kept = new Map<string, Kept>();
  for (const { keeps = [] } of await records.presence.running(now)) {
    for (const one of keeps)
      if (!kept.has(one.name))
        kept.set(one.name, { ...one, policy: checkRecord(Policy, one.policy, keys.presence) });
  }
  return [...kept.values()];
}

/**
 * The policy called `name`: of a file that can be read, or as a daemon keeps it active.
 *
 * @throws {InvalidFilesError} {UsageError} when there is none.
 */
export async function findActivePolicy(
  name: string,
  settings: Settings,
  records: Pick<Records, 'presence'> | undefined,
  now: number,
): Promise<Policy> {
  const loaded = await policiesOf(settings);
  const own = loaded.policies.find((policy) => policy.name === name);
  if (own) return own;
  const kept = records ? (await keptByDaemons(records, now)).find((one) => one.name === name) : undefined;
  if (!kept) throw noSuchPolicy(name, settings, loaded);
  return kept.policy;
}

/** One sentence for each file with errors. */
export function formatKept(kept: readonly Kept[]): string[] {
  const files = [...new Set(kept.map(({ file }) => file))];
  return files.flatMap((file) => {
    const mine = kept.filter((one) => one.file === file);
    const [first] = mine;
    if (!first) return [];
    const names = mine.map(({ name, readAt }) => `${name} as it was read at ${isoMinute(readAt)}`).join(', ');
    return [
      `${shortFile(file)} has had errors since ${isoMinute(first.brokenSince)} (${first.error.replace(/\.$/, '')}); the daemon keeps these active: ${names}.`,
    ];
  });
}
