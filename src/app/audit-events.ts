/** What the audit log shows in addition to commands: sign-ins, changed files, and what the daemon does by itself. */
import { hostname } from 'node:os';
import { daemonPrincipal } from '../access/principal.ts';
import type { Audit } from '../control/audit.ts';
import type { SignIn } from '../dashboard/options.ts';
import { configChanges } from '../policy/config-watcher.ts';
import type { Policy } from '../policy/policy.ts';
import type { AuditLine } from '../records/audit-store.ts';
import type { Pause } from '../records/policy-store.ts';
import type { Run } from '../run/run.ts';
import type { Settings } from '../settings/settings.ts';

const byDaemon = (): Pick<AuditLine, 'who' | 'from' | 'result'> => ({
  who: { kind: daemonPrincipal.kind, name: daemonPrincipal.name },
  from: `daemon@${hostname()}`,
  result: 'done',
});

/** Attempts that were refused unread are noted once a minute for each address, so that they cannot fill the log. */
const REFUSED_INTERVAL_MS = 60_000;
const MAX_ADDRESSES = 1_000;

/** Notes attempts to sign in. */
export function signInsTo(audit: Audit, now: () => number): (attempt: SignIn) => void {
  const refusedAt = new Map<string, number>();
  return ({ address, name, principal, ok, why }) => {
    if (why === 'too many attempts') {
      if (now() - (refusedAt.get(address) ?? Number.NEGATIVE_INFINITY) < REFUSED_INTERVAL_MS) return;
      if (refusedAt.size >= MAX_ADDRESSES) refusedAt.clear();
      refusedAt.set(address, now());
    }
    void audit.note({
      who: { kind: principal?.kind ?? 'unknown', name: principal?.name ?? name ?? '' },
      from: address,
      what: 'sign-in',
      result: ok ? 'done' : 'refused',
      ...(ok ? {} : { code: 'SIGN_IN', message: why ?? 'It failed.' }),
    });
  };
}

/** Notes which policies were added, changed and removed, with the hashes of their versions. */
export function policyChangesTo(audit: Audit) {
  return async (before: readonly Policy[], after: readonly Policy[]): Promise<void> => {
    const old = new Map(before.map((policy) => [policy.name, policy]));
    const now = new Map(after.map((policy) => [policy.name, policy]));
    for (const name of new Set([...old.keys(), ...now.keys()])) {
      const [was, is] = [old.get(name), now.get(name)];
      if (was?.hash === is?.hash) continue;
      const account = (is ?? was)?.account;
      await audit.note({
        ...byDaemon(),
        what: 'policy-file.changed',
        policy: name,
        ...(account === undefined ? {} : { account }),
        detail: was && is ? `${was.hash} -> ${is.hash}` : is ? `added: ${is.hash}` : `removed: ${was?.hash}`,
      });
    }
  };
}

/** Notes which keys of the configuration changed, without their values. */
export function settingsChangesTo(audit: Audit, started: Settings): (read: Settings) => void {
  let last = started;
  return (read) => {
    const { live, fixed } = configChanges(last, read);
    last = read;
    const keys = [...live, ...fixed.map((key) => `${key} (after a restart)`)];
    if (keys.length > 0)
      void audit.note({ ...byDaemon(), what: 'settings.changed', detail: keys.join(', ') });
  };
}

/** Notes that a policy was paused because its runs failed. */
export const notePaused = (audit: Audit, { id, account }: Run, { name }: Policy, pause: Pause): void =>
  void audit.note({
    ...byDaemon(),
    what: 'policy.paused-automatically',
    policy: name,
    account,
    run: id,
    ...(pause.reason === undefined ? {} : { why: pause.reason }),
  });

/** Notes that a missed scheduled time was caught up. */
export const noteCaughtUp = (audit: Audit, { id, policy, account }: Run): void =>
  void audit.note({ ...byDaemon(), what: 'policy.caught-up', policy, account, run: id });
