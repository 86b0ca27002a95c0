/**
 * Which keys a backup has: the records. Not the queues, whose entries are made again from the records, nor leases,
 * presence and budgets, which are about the present, nor the indexes of runs, which are made again from the runs.
 */

import { PROBE_KEY } from '../../redis/health.ts';
import { keysLike } from '../../redis/keys-like.ts';
import type { Store } from '../../redis/store.ts';
import { isFinal } from '../../run/moves.ts';
import { type RunStatus, runStatuses } from '../../run/run.ts';
import { isAuditLog } from '../audit-store.ts';
import { keys, PREFIX } from '../keys.ts';

const endsPrefix = keys.ends('');
const notKept = [
  keys.run(''),
  endsPrefix,
  keys.runsOfPolicy(''),
  keys.runsInStatus(''),
  keys.activeRuns(''),
  keys.lock(''),
  keys.heartbeat(''),
  `${PREFIX}:queue:`,
  `${PREFIX}:budget:`,
  keys.presence,
];
const notKeptAlone: readonly string[] = [
  keys.runs,
  keys.activeAccounts,
  keys.supervised,
  keys.schema,
  keys.generation,
  PROBE_KEY,
];

/** The ends of runs, by policy: they are read before the runs, so that each of them is of a run that had ended. */
export const endsKeys = (store: Store): AsyncGenerator<string> => keysLike(store, `${endsPrefix}*`);

/** What is kept in addition to the runs and their ends. */
export async function* otherKeys(store: Store): AsyncGenerator<string> {
  for await (const key of keysLike(store, `${PREFIX}:*`))
    if (!notKeptAlone.includes(key) && !notKept.some((prefix) => key.startsWith(prefix))) yield key;
}

/** Whether a key has to go before records are restored: records, indexes of runs, and the queues. */
const isReplaced = (key: string): boolean =>
  ![keys.lock(''), `${PREFIX}:budget:`, keys.presence, keys.schema].some((prefix) => key.startsWith(prefix));

/** Whether Redis has records that a restore would replace; the numbers that every start writes do not count. */
export async function hasRecords(store: Store): Promise<boolean> {
  if ((await store.exists(keys.runs)) === 1) return true;
  for await (const _ of keysLike(store, keys.run('*'))) return true;
  for await (const key of otherKeys(store)) if (!isAuditLog(key)) return true;
  return false;
}

/** Removes the records and the queues, a page at a time. */
export async function removeRecords(store: Store): Promise<void> {
  let page: string[] = [];
  const remove = async () => {
    const removals = store.pipeline();
    for (const key of page) removals.unlink(key);
    page = [];
    await removals.exec();
  };
  for await (const key of keysLike(store, `${PREFIX}:*`)) {
    if (isReplaced(key)) page.push(key);
    if (page.length >= 500) await remove();
  }
  await remove();
}

/** Adds a restored run to the indexes, as its creation and moves would have. */
export async function indexRun(store: Store, id: string): Promise<void> {
  const [policy, account, status, createdAt] = await store.hmget(
    ...[keys.run(id), 'policy', 'account', 'status', 'createdAt'],
  );
  if (!policy || !account || !createdAt || !isStatus(status)) return;
  const adding = store.multi();
  for (const index of [keys.runs, keys.runsOfPolicy(policy), keys.runsInStatus(status)])
    adding.zadd(index, createdAt, id);
  if (!isFinal(status)) adding.sadd(keys.activeRuns(account), id).sadd(keys.activeAccounts, account);
  await adding.exec();
}

const isStatus = (text: string | null | undefined): text is RunStatus =>
  (runStatuses as readonly (string | null | undefined)[]).includes(text);
