/**
 * Which version of a policy is active when daemons have read different files: a decision without clock or
 * Redis, so that every scheduler that knows the same daemons decides the same.
 */

/** A policy as one daemon has read it. */
export interface Version {
  hash: string;
  /** When its file was changed, in milliseconds since 1970. */
  changedAt: number;
}

/** What one daemon has read. */
export interface DaemonPolicies {
  id: string;
  host: string;
  pid: number;
  /** Whether it has the scheduler role: only such a daemon fires, and only its version can be active. */
  fires: boolean;
  versions: ReadonlyMap<string, Version>;
}

/** A policy that daemons have read differently. */
export interface Difference {
  policy: string;
  /** The daemons that have the active version, those that have another, and those that have none. */
  active: readonly DaemonPolicies[];
  other: readonly DaemonPolicies[];
  missing: readonly DaemonPolicies[];
}

/** The hash of the version that fires: of those that schedulers have read, the one that was changed last. */
export function activeVersion(policy: string, daemons: Iterable<DaemonPolicies>): string | undefined {
  let latest: Version | undefined;
  for (const { fires, versions } of daemons) {
    const version = versions.get(policy);
    if (fires && version && (!latest || isLater(version, latest))) latest = version;
  }
  return latest?.hash;
}

/** For two versions changed at the same time, either may win, but every scheduler must choose the same. */
const isLater = (a: Version, b: Version): boolean =>
  a.changedAt > b.changedAt || (a.changedAt === b.changedAt && a.hash > b.hash);

/** The policies that are not the same in all these daemons, sorted by name. */
export function differencesOf(daemons: readonly DaemonPolicies[]): Difference[] {
  const names = new Set(daemons.flatMap(({ versions }) => [...versions.keys()]));
  return [...names].sort().flatMap((policy) => {
    const hash = activeVersion(policy, daemons);
    const having = (holds: (version: Version | undefined) => boolean) =>
      daemons.filter(({ versions }) => holds(versions.get(policy)));
    const missing = having((version) => version === undefined);
    const other = having((version) => version !== undefined && version.hash !== hash);
    if (missing.length === 0 && other.length === 0) return [];
    return [
      { policy, active: having((version) => version?.hash === hash && hash !== undefined), other, missing },
    ];
  });
}

/** The difference as a sentence without a full stop. */
export function formatDifference({ policy, active, other, missing }: Difference): string {
  const parts = [
    active.length === 0 ? 'no scheduler has it' : `the version of ${named(active)} is active`,
    ...(other.length === 0 ? [] : [`${named(other)} has another version`]),
    ...(missing.length === 0 ? [] : [`${named(missing)} does not have it`]),
  ];
  return `the policy ${policy} differs between daemons: ${parts.join(', ')}`;
}

const named = (daemons: readonly DaemonPolicies[]): string =>
  daemons.map(({ host, pid }) => `${host} (pid ${pid})`).join(' and ');
