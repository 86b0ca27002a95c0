/**
 * The accounts of the configuration whose records belong to another service: a daemon fires, plans, sends and
 * follows nothing for them, and says so. It looks again at each of its rounds, since another process may bind or
 * move an account at any time.
 */
import { createHash } from 'node:crypto';
import { AccountMovedError, serviceAddress } from '../contract/service-address.ts';
import type { Log } from '../log.ts';
import type { Policy } from '../policy/policy.ts';
import type { Records } from '../records/records.ts';
import type { Settings } from '../settings/settings.ts';

export interface MovedAccounts {
  /** A sentence for each, as of the latest `look`. */
  sentences(): readonly string[];
  /** The policies of all other accounts: the same array for the same policies, until the accounts change. */
  without(policies: readonly Policy[]): readonly Policy[];
  /** A digest of the addresses in the configuration. */
  digest: string;
  /** Reads what the records are bound to; logs each change once. */
  look(): Promise<void>;
}

export function openMovedAccounts({
  records,
  settings,
  log,
}: {
  records: Pick<Records, 'accounts'>;
  settings: Pick<Settings, 'accounts'>;
  log: Log;
}): MovedAccounts {
  const addresses = Object.values(settings.accounts).flatMap(({ name, baseUrl }): [string, string][] =>
    baseUrl === undefined ? [] : [[name, serviceAddress(baseUrl)]],
  );
  let moved = new Map<string, string>();
  let filtered: { from: readonly Policy[]; moved: object; policies: readonly Policy[] } | undefined;
  return {
    sentences: () => [...moved.values()],
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
    },
  };
}
