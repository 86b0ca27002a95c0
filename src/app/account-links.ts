/** The links to the accounts: what the service is asked through, and what its answers deviated in. */
import { openBudget } from '../budget/budget.ts';
import { openClient } from '../client/client.ts';
import type { AccountLink } from '../engine/deps.ts';
import { accountOf } from '../settings/account.ts';
import type { Settings } from '../settings/settings.ts';
import type { OpenRecords } from './open-records.ts';

export interface AccountLinks {
  /** The link to an account, opened when first asked for. Throws when the account is not set up here. */
  link(account: string): AccountLink;
  /** Where links were opened: the accounts that this process has to do with. */
  linked(): string[];
  /** Answers that deviated from the contract, by operation and field, since opening. */
  readonly drift: ReadonlyMap<string, number>;
  close(): Promise<void>;
}

/** Different deviations that are remembered; a service that invents new ones without end is only counted. */
const MAX_DRIFT = 200;

/** Asks nothing of the service yet. */
export function openAccountLinks(
  settings: Settings,
  { redis, clock, log, owner }: Pick<OpenRecords, 'redis' | 'clock' | 'log' | 'owner'>,
): AccountLinks {
  const links = new Map<string, AccountLink>();
  const drift = new Map<string, number>();
  const open = (name: string): AccountLink => {
    const account = accountOf(settings, name);
    const budget = openBudget(redis.store, clock, name, {
      ...account.budget,
      process: owner,
      address: account.baseUrl,
    });
    const client = openClient({
      account,
      budget,
      clock,
      log,
      onDrift({ operation, field, message }) {
        const key = `${operation} ${field}`;
        if (!drift.has(key) && drift.size < MAX_DRIFT) log.warn({ operation, field }, `drift: ${message}`);
        if (drift.has(key) || drift.size < MAX_DRIFT) drift.set(key, (drift.get(key) ?? 0) + 1);
      },
    });
    return { client, budget };
  };
  return {
    link(name) {
      const link = links.get(name) ?? open(name);
      links.set(name, link);
      return link;
    },
    linked: () => [...links.keys()],
    drift,
    async close() {
      await Promise.all([...links.values()].map(({ client }) => client.close()));
    },
  };
}
