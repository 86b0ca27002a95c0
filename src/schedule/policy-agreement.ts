/**
 * Which of its policies this process fires, when daemons on one Redis have read different files.
 *
 * Each daemon publishes what it has read, beside its presence, and reads what the others publish. Of each
 * policy the version that was changed last is active (`schedule/versions.ts`), and only daemons that have it
 * fire it. So one version decides about each scheduled time, and the ledger gives it one record.
 */
import { createHash } from 'node:crypto';
import { hostname } from 'node:os';
import type { Clock } from '../clock.ts';
import type { Log } from '../log.ts';
import type { Policy } from '../policy/policy.ts';
import type { PolicyWatcher } from '../policy/policy-watcher.ts';
import type { Presence } from '../records/presence-store.ts';
import type { Records } from '../records/records.ts';
import {
  activeVersion,
  type DaemonPolicies,
  differencesOf,
  formatDifference,
  type Version,
} from './versions.ts';

export interface PolicyAgreement {
  /** The policies that this process fires. */
  active(): readonly Policy[];
  /** A digest of them: daemons with the same digest fire the same policies. */
  digestOfActive(): string;
  /** The names of the policies that this process or another one has read. */
  names(): ReadonlySet<string>;
  /** A digest of all policies that this process has read. */
  digest(): string;
  /** What differs between the daemons, one sentence each, as of the latest `look`. */
  differences(): readonly string[];
  /** Publishes what this process has read and reads what the others have; logs each difference once. */
  look(): Promise<void>;
}

/** At most this many differing policies are named in the log. */
const MAX_NAMED = 10;

export function openPolicyAgreement({
  watcher,
  fires,
  owner,
  records,
  clock,
  log,
}: {
  watcher: Pick<PolicyWatcher, 'policies' | 'changedAt'>;
  /** Whether this process has the scheduler role. */
  fires: boolean;
  owner: string;
  records: Pick<Records, 'presence'>;
  clock: Pick<Clock, 'now'>;
  log: Log;
}): PolicyAgreement {
  let others: readonly DaemonPolicies[] = [];
  let shown: string | undefined;
  /** A difference is reported when it is seen twice: a shared folder reaches daemons seconds apart. */
  let seen = '';
  let logged = '';
  let differences: readonly string[] = [];
  let known:
    | {
        read: readonly Policy[];
        others: readonly DaemonPolicies[];
        active: readonly Policy[];
        digest: string;
      }
    | undefined;

  const own = (): DaemonPolicies => ({
    id: owner,
    host: hostname(),
    pid: process.pid,
    fires,
    versions: new Map(
      watcher
        .policies()
        .map(({ name, hash }): [string, Version] => [name, { hash, changedAt: watcher.changedAt(name) }]),
    ),
  });
  const decided = () => {
    const read = watcher.policies();
    if (known?.read === read && known.others === others) return known;
    const daemons = [own(), ...others];
    const active = read.filter(({ name, hash }) => activeVersion(name, daemons) === hash);
    known = { read, others, active, digest: digestOf(active) };
    return known;
  };

  return {
    active: () => decided().active,
    digestOfActive: () => decided().digest,
    names: () =>
      new Set([
        ...watcher.policies().map(({ name }) => name),
        ...others.flatMap(({ versions }) => [...versions.keys()]),
      ]),
    digest: () => digestOf(watcher.policies()),
    differences: () => differences,
    async look() {
      const mine = own();
      const digest = digestOf(watcher.policies());
      if (shown !== digest || !(await records.presence.keepPolicies(owner))) {
        const contents = new Map(watcher.policies().map((policy) => [policy.name, JSON.stringify(policy)]));
        await records.presence.showPolicies(owner, mine.versions, contents);
        shown = digest;
      }
      const here = await records.presence.running(clock.now());
      others = await othersOf(records, here, owner, others);
      const found = differencesOf([mine, ...others]).map(formatDifference);
      const text = found.join('\n');
      if (text === seen) {
        differences = found;
        if (text !== logged) logDifferences(found, log);
        logged = text;
      }
      seen = text;
    },
  };
}

/** What the other daemons have read. A daemon that has published nothing is ignored. */
async function othersOf(
  records: Pick<Records, 'presence'>,
  here: readonly Presence[],
  owner: string,
  before: readonly DaemonPolicies[],
): Promise<readonly DaemonPolicies[]> {
  const showing = here.filter(({ id, policies }) => id !== owner && policies !== undefined);
  const found = await Promise.all(showing.map((presence) => daemonOf(records, presence)));
  const now = found.flatMap((daemon) => daemon ?? []);
  // The same object for the same daemons keeps the cached decision valid.
  return fingerprint(now) === fingerprint(before) ? before : now;
}

/** What an active daemon has read; nothing when it has published nothing. */
export async function daemonOf(
  { presence }: Pick<Records, 'presence'>,
  { id, host, pid, roles }: Presence,
): Promise<DaemonPolicies | undefined> {
  const versions = await presence.policiesOf(id);
  return versions && { id, host, pid, fires: roles.includes('scheduler'), versions };
}

const fingerprint = (daemons: readonly DaemonPolicies[]): string =>
  JSON.stringify(daemons.map(({ id, fires, versions }) => [id, fires, [...versions]]));

const digestOf = (policies: readonly Policy[]): string =>
  createHash('sha256')
    .update(
      policies
        .map(({ name, hash }) => `${name} ${hash}`)
        .sort()
        .join('\n'),
    )
    .digest('hex')
    .slice(0, 16);

function logDifferences(found: readonly string[], log: Log): void {
  if (found.length === 0) log.info('all daemons have read the same policies again');
  for (const sentence of found.slice(0, MAX_NAMED)) log.warn(sentence);
  if (found.length > MAX_NAMED) log.warn(`${found.length - MAX_NAMED} more policies differ between daemons`);
}
