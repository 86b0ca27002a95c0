/** Writes the records of a backup into Redis, and makes the indexes of runs again. */
import type { Store } from '../../redis/store.ts';
import { keys, keysOfRun } from '../keys.ts';
import { BackupError, type Entry } from './backup-file.ts';
import { indexRun } from './kept-keys.ts';

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
