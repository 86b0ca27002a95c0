/** Makes an inventory of an account. */

import type { Client } from '../../client/client.ts';
import { AccountRefusedError, UnavailableError } from '../../client/errors.ts';
import type { Incomplete } from '../../client/pages.ts';
import { type Clock, middleOf } from '../../clock.ts';
import { pathParameters } from '../../contract/operation.ts';
import { operationOf } from '../../contract/operations.ts';
import { CaretakerError, messageOf } from '../../errors.ts';
import { isList } from '../../job/candidates.ts';
import type { Registry } from '../../job/registry.ts';
import { candidatesOf } from '../../job/source.ts';
import type { Policy } from '../../policy/policy.ts';
import { jobOf } from '../../policy/policy-job.ts';
import { planOffline, usualBudget } from '../offline-plan.ts';
import { type Inventory, listIds, type Recorded } from './inventory.ts';
import { recorder } from './record.ts';

export interface SaveOptions {
  account: { name: string; baseUrl: string };
  client: Client;
  clock: Pick<Clock, 'now'>;
  registry: Pick<Registry, 'get'>;
  /** What planning these policies reads is saved. */
  policies: readonly Policy[];
  /** The time for which they are planned. Default: now. */
  at?: number | undefined;
  /** Whether every list of the account is saved too, and not only those that the policies need. */
  allLists: boolean;
  /** Called after each complete read. */
  onRead: (read: Recorded) => void;
  /** Called for each list of which fewer items arrived than the service counts: plans over it miss the others. */
  onIncomplete?: (incomplete: Incomplete) => void;
}

export interface Saved {
  inventory: Inventory;
  requests: number;
  /** The policies of which not every read could be saved, and why. */
  incomplete: { policy: string; why: string }[];
}

/**
 * Reads an account. The lists come first, then what else each policy reads: it is planned over the lists,
 * and what planning asks for is read.
 *
 * @throws {UnavailableError} {AccountRefusedError}
 */
export async function saveInventory(options: SaveOptions): Promise<Saved> {
  const { account, client, clock, registry, policies, allLists, onRead } = options;
  const savedAt = clock.now();
  let requests = 0;
  const callOptions = {
    requestClass: 'person',
    onRequest: () => {
      requests += 1;
    },
  } as const;
  const reads = recorder(client, callOptions, onRead, options.onIncomplete);
  const lists = listIds.filter((id) => pathParameters(operationOf(id).path).length === 0);
  if (allLists) for (const list of lists) await tolerant(() => reads.items(list, {}));
  for (const policy of policies) {
    const { select } = policy;
    const job = jobOf(registry, policy);
    const list = job && (select.forEach?.list ?? candidatesOf(job, select));
    if (list && isList(list)) await tolerant(() => reads.items(list, {}));
  }
  // By now an answer has shown the service's time, so this costs no request.
  const serviceAt = middleOf(await client.serviceTime(savedAt, callOptions));
  const incomplete: Saved['incomplete'] = [];
  for (const policy of policies) {
    const now = options.at ?? savedAt;
    const serviceNow = now + serviceAt - savedAt;
    const planning = { reads, registry, now, serviceNow, budget: usualBudget };
    const why = await tolerant(() => planOffline(policy, planning));
    if (why !== undefined) incomplete.push({ policy: policy.name, why });
  }
  const inventory = {
    account: account.name,
    baseUrl: withoutCredentials(account.baseUrl),
    savedAt,
    serviceAt,
    entries: reads.entries(),
  };
  return { inventory, requests, incomplete };
}

/** Why it failed, in a sentence; only without a usable service there is nothing left to read. */
async function tolerant(read: () => Promise<unknown>): Promise<string | undefined> {
  try {
    await read();
    return undefined;
  } catch (error) {
    const isAway = error instanceof UnavailableError || error instanceof AccountRefusedError;
    if (isAway || !(error instanceof CaretakerError)) throw error;
    return messageOf(error);
  }
}

function withoutCredentials(baseUrl: string): string {
  const { origin, pathname } = new URL(baseUrl);
  return `${origin}${pathname}`;
}
