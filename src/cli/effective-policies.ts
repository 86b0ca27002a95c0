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
 * The policies that daemons keep active although their files have errors. When several daemons keep the same
 * policy, the version of the first one is returned.
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

/** The policies of the files, and those that daemons keep active while their files have errors. */
export async function knownPolicies(
  settings: Settings,
  records: Pick<Records, 'presence'>,
  now: number,
): Promise<Policy[]> {
  const [{ policies }, kept] = await Promise.all([policiesOf(settings), keptByDaemons(records, now)]);
  const names = new Set(policies.map(({ name }) => name));
  return [...policies, ...kept.filter(({ name }) => !names.has(name)).map(({ policy }) => policy)];
}

/**
 * Returns the policy called `name`: from its file if that is valid, otherwise the version that a daemon keeps
 * active.
 *
 * @throws {InvalidFilesError} or {UsageError} when there is neither.
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

export type ShownKept = Pick<KeptPolicy, 'name' | 'file' | 'error' | 'brokenSince' | 'readAt'>;

/** One sentence for each file with errors. `nameOf`: how a file is named; it may be on another machine. */
export function formatKept(kept: readonly ShownKept[], nameOf = shortFile): string[] {
  const files = [...new Set(kept.map(({ file }) => file))];
  return files.flatMap((file) => {
    const ofFile = kept.filter((one) => one.file === file);
    const [first] = ofFile;
    if (!first) return [];
    const names = ofFile.map(({ name, readAt }) => `${name} (read at ${isoMinute(readAt)})`).join(', ');
    return [
      `${nameOf(file)} has had errors since ${isoMinute(first.brokenSince)} (${first.error.replace(/\.$/, '')}); the daemon continues to use the previous version of ${names}.`,
    ];
  });
}
