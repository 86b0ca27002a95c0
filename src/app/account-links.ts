/** The links to the accounts: client and budget of each, and the deviations found in answers. */
import { openBudget } from '../budget/budget.ts';
import { openClient } from '../client/client.ts';
import type { AccountLink } from '../engine/deps.ts';
import { accountOf } from '../settings/account.ts';
import type { Settings } from '../settings/settings.ts';
import type { OpenRecords } from './open-records.ts';

export interface AccountLinks {
  /** The link to an account, opened at the first call. Throws when the settings lack the account. */
  link(account: string): AccountLink;
  /** The accounts whose links were opened in this process. */
  linked(): string[];
  /** The number of answers that deviated from the contract, by operation and field, since opening. */
  readonly drift: ReadonlyMap<string, number>;
  close(): Promise<void>;
}

/** Called when a request of a person waits until a time, since the window of the account is spent. */
export type OnWait = (account: string, until: number) => void;

/** The limit of different deviations; further ones are dropped, so that the memory is bounded. */
const MAX_DRIFT = 200;

/** Sends no request yet. */
export function openAccountLinks(
  settings: Settings,
  { redis, records, clock, log, owner }: Pick<OpenRecords, 'redis' | 'records' | 'clock' | 'log' | 'owner'>,
  onWait?: OnWait,
): AccountLinks {
  const links = new Map<string, AccountLink>();
  const drift = new Map<string, number>();
  const open = (name: string): AccountLink => {
    const account = accountOf(settings, name);
    const budget = openBudget(redis.store, clock, name, {
      ...account.budget,
      process: owner,
      address: account.baseUrl,
      onWait: onWait && ((until) => onWait(name, until)),
    });
    const client = openClient({
      account,
      budget,
      clock,
      log,
      onExchange: (operation, result, ms) => records.measurements.note('request', [operation, result], ms),
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
