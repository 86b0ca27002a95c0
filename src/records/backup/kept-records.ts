/**
 * Which keys a backup has: the records. Not the queues, whose entries are made again from the records, nor leases,
 * presence, budgets and what the service showed of the sites, which are about the present, nor the indexes of runs, which
 * are made again from the runs.
 */
import type { Clock } from '../../clock.ts';
import { PROBE_KEY } from '../../redis/health.ts';
import { keysLike, type Store } from '../../redis/store.ts';
import { isFinal } from '../../run/moves.ts';
import { type RunStatus, runStatuses } from '../../run/run.ts';
import { isAuditLog } from '../audit-store.ts';
import { keys, keysOfRun, PREFIX } from '../keys.ts';
import { BackupError, type Entry } from './backup-file.ts';

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
  keys.sites(''),
];
const notKeptAlone: readonly string[] = [
  keys.runs,
  keys.activeAccounts,
  keys.supervised,
  keys.schema,
  keys.generation,
  keys.sitesRead,
  PROBE_KEY,
];

/** The ends of runs, by policy: they are read before the runs, so that each of them is of a run that had ended. */
const endsKeys = (store: Store): AsyncGenerator<string> => keysLike(store, `${endsPrefix}*`);

/** What is kept in addition to the runs and their ends. */
async function* otherKeys(store: Store): AsyncGenerator<string> {
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
async function indexRun(store: Store, id: string): Promise<void> {
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

// Reads all records for a backup, while work goes on.
//
// All keys of a run are read at the same time. The ends of runs are read before the runs, and everything else after
// them: what keeps work from being done twice, such as the keys of `once` and the owners of effects, is never
// older than a run that relies on it. At most one run, or a page of other keys, is in memory.

const PAGE = 100;

export async function* readRecords(store: Store, clock: Pick<Clock, 'now'>): AsyncGenerator<Entry> {
  yield* inPages(store, clock, endsKeys(store));
  let cursor = '0';
  do {
    const [next, flat] = await store.zscan(keys.runs, cursor, 'COUNT', PAGE);
    for (const [at, id] of flat.entries())
      if (at % 2 === 0) yield* await dump(store, clock, Object.values(keysOfRun(id)));
    cursor = next;
  } while (cursor !== '0');
  yield* inPages(store, clock, otherKeys(store));
}

async function* inPages(
  store: Store,
  clock: Pick<Clock, 'now'>,
  found: AsyncIterable<string>,
): AsyncGenerator<Entry> {
  let page: string[] = [];
  for await (const key of found) {
    page.push(key);
    if (page.length < PAGE) continue;
    yield* await dump(store, clock, page);
    page = [];
  }
  yield* await dump(store, clock, page);
}

/** Those of the keys that exist, all read at the same time. */
async function dump(store: Store, clock: Pick<Clock, 'now'>, page: readonly string[]): Promise<Entry[]> {
  if (page.length === 0) return [];
  const reads = store.multi();
  for (const key of page) reads.dumpBuffer(key).pttl(key);
  const answers = (await reads.exec()) ?? [];
  const now = clock.now();
  return page.flatMap((key, at): Entry[] => {
    const [[dumpError, value], [, ttl]] = [answers[at * 2] ?? [], answers[at * 2 + 1] ?? []];
    if (dumpError) throw dumpError;
    if (!Buffer.isBuffer(value)) return [];
    const expires = typeof ttl === 'number' && ttl > 0 ? { expires_at: now + ttl } : {};
    return [{ key, ...expires, value: value.toString('base64') }];
  });
}

// Writes the records of a backup into Redis, and makes the indexes of runs again.

const MAX_KEYS = 200;
const MAX_BYTES = 4_000_000;

/** Keys that have expired meanwhile are left out. Returns how many runs were restored. */
export async function writeRecords(store: Store, entries: AsyncIterable<Entry>): Promise<number> {
  let page: Entry[] = [];
  let bytes = 0;
  let runs = 0;
  const write = async () => {
    await restorePage(store, page);
    for (const { key } of page) {
      const id = key.startsWith(RUN) ? key.slice(RUN.length) : undefined;
      if (id === undefined || isPartOfRun(key)) continue;
      await indexRun(store, id);
      runs += 1;
    }
    page = [];
    bytes = 0;
  };
  for await (const entry of entries) {
    page.push(entry);
    bytes += entry.value.length;
    if (page.length >= MAX_KEYS || bytes >= MAX_BYTES) await write();
  }
  await write();
  return runs;
}

const RUN = keys.run('');
const parts = Object.values(keysOfRun(''))
  .map((key) => key.slice(RUN.length))
  .filter((part) => part !== '');
/** Whether a key is that of a list, set or index of a run; no id of a run has a colon. */
const isPartOfRun = (key: string): boolean => parts.some((part) => key.endsWith(part));

async function restorePage(store: Store, page: readonly Entry[]): Promise<void> {
  if (page.length === 0) return;
  const writes = store.pipeline();
  for (const { key, expires_at: expiresAt = 0, value } of page)
    writes.restore(key, expiresAt, Buffer.from(value, 'base64'), 'REPLACE', 'ABSTTL');
  for (const [error] of (await writes.exec()) ?? []) {
    if (error)
      throw new BackupError(
        `Redis cannot read a value of the backup (${error.message}): restore it to the version of Redis that it was taken from, or a newer one. The records are incomplete until a restore succeeds.`,
      );
  }
}
