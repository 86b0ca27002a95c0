/**
 * The accounts of the configuration whose records belong to another service: a daemon fires, plans, sends and
 * follows nothing for them, and says so. It looks again at each of its rounds, since another process may bind or
 * move an account at any time. Receivers are notified once for all processes.
 */
import { createHash } from 'node:crypto';
import type { Clock } from '../clock.ts';
import { AccountMovedError, serviceAddress } from '../contract/service-address.ts';
import type { Log } from '../log.ts';
import type { Policy } from '../policy/policy.ts';
import type { Records } from '../records/records.ts';
import type { Settings } from '../settings/settings.ts';

/** The address is the right one when no process has seen another for this long: each looks every few seconds. */
const MATCHES_AFTER_MS = 30_000;
const PREFIX = 'account-address ';

export interface MovedAccounts {
  /** As of the latest `look`. */
  found(): readonly MovedAccount[];
  /** The policies of all other accounts: the same array for the same policies, until the accounts change. */
  without(policies: readonly Policy[]): readonly Policy[];
  /** A digest of the addresses in the configuration. */
  digest: string;
  /** Reads what the records are bound to; logs each change once, and makes the notices. */
  look(): Promise<void>;
}

interface MovedAccount {
  account: string;
  /** Which address is in the configuration, which one the records belong to, and what to do. */
  sentence: string;
}

export function openMovedAccounts({
  records,
  settings,
  clock,
  log,
}: {
  records: Pick<Records, 'accounts' | 'alerts'>;
  settings: {
    accounts: Readonly<Record<string, Pick<Settings['accounts'][string], 'name' | 'baseUrl'>>>;
  };
  clock: Pick<Clock, 'now'>;
  log: Log;
}): MovedAccounts {
  const addresses = Object.values(settings.accounts).flatMap(({ name, baseUrl }): [string, string][] =>
    baseUrl === undefined ? [] : [[name, serviceAddress(baseUrl)]],
  );
  let moved = new Map<string, string>();
  const note = async (found: ReadonlyMap<string, string>) => {
    const at = clock.now();
    for (const [account, detail] of found)
      await records.alerts.raise(PREFIX + account, {
        type: 'system',
        event: 'account-moved',
        at,
        account,
        detail,
      });
    for (const alert of await records.alerts.names(PREFIX)) {
      const account = alert.slice(PREFIX.length);
      if (found.has(account)) continue;
      const detail = `The records of the account "${account}" belong to the address of every process again.`;
      const notice = { type: 'system', event: 'account-matches', at, account, detail } as const;
      await records.alerts.clear(alert, at - MATCHES_AFTER_MS, notice);
    }
  };
  let filtered: { from: readonly Policy[]; moved: object; policies: readonly Policy[] } | undefined;
  return {
    found: () => [...moved].map(([account, sentence]) => ({ account, sentence })),
    without(policies) {
      if (moved.size === 0) return policies;
      if (filtered?.from !== policies || filtered.moved !== moved)
        filtered = { from: policies, moved, policies: policies.filter(({ account }) => !moved.has(account)) };
      return filtered.policies;
    },
    digest: createHash('sha256').update(JSON.stringify(addresses.sort())).digest('hex').slice(0, 16),
    async look() {
      const bound = await records.accounts.addresses();
      const found = new Map<string, string>();
      for (const [account, address] of addresses) {
        const other = bound.get(account);
        if (other === undefined || other === address) continue;
        const error = new AccountMovedError(account, address, other);
        if (moved.get(account) !== error.message) log.error({ account, err: error }, error.message);
        found.set(account, error.message);
      }
      for (const account of moved.keys())
        if (!found.has(account))
          log.info({ account }, 'the records of the account belong to its address again');
      if (found.size > 0 || moved.size > 0) moved = found;
      await note(found);
    },
  };
}
