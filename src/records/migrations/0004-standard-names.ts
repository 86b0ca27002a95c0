/**
 * Version 4: what is stored has the standard names.
 *
 * Older records have other names for some fields of targets, runs, scheduled times and policies, for the list
 * of excluded candidates, and for a field of the entries in the queue. All of these are rewritten.
 */
import { z } from 'zod';
import { runScript } from '../../redis/script.ts';
import type { Store } from '../../redis/store.ts';
import { toJson } from '../../redis/store.ts';
import { parseRecord } from '../parse-record.ts';
import { keysLike } from './keys-like.ts';
import type { Migration, MigrationContext } from './migration.ts';
import { replaceField } from './replace-field.ts';

const PREFIX = '{caretaker}';
/** Runs, targets or records that are read together. */
const PAGE = 500;

/** A value of a record by its former name, under its name in version 4. */
const renamed = (record: Record<string, unknown>, names: Readonly<Record<string, string>>) =>
  Object.fromEntries(Object.entries(record).map(([name, value]) => [names[name] ?? name, value]));

const Fields = z.record(z.string(), z.unknown());
const target = {
  step: 'fence',
  memo: 'jobState',
  begun: 'partlyDone',
  goesOn: 'continues',
  callOff: 'taskCancel',
};

function migrateTarget(json: string, key: string): string {
  const migrated = renamed(parseRecord(Fields, json, key), target);
  if (migrated['taskCancel'] === 'asked') migrated['taskCancel'] = 'requested';
  const intent = Fields.safeParse(migrated['intent']);
  if (intent.success) migrated['intent'] = renamed(intent.data, { made: 'confirmed' });
  const findings = z.array(Fields).safeParse(migrated['findings']);
  if (findings.success) migrated['findings'] = findings.data.map((one) => renamed(one, { says: 'message' }));
  return toJson(migrated);
}

/** KEYS: sorted set. ARGV: former member, member. The member keeps its score, and so its place. */
const REPLACE_MEMBER = `
local score = redis.call('ZSCORE', KEYS[1], ARGV[1])
if not score then return 0 end
redis.call('ZREM', KEYS[1], ARGV[1])
redis.call('ZADD', KEYS[1], score, ARGV[2])
return 1`;

/** KEYS: hash. ARGV: former name, name. */
const RENAME_FIELD = `
local value = redis.call('HGET', KEYS[1], ARGV[1])
if not value then return 0 end
redis.call('HSET', KEYS[1], ARGV[2], value)
redis.call('HDEL', KEYS[1], ARGV[1])
return 1`;

/** KEYS: former key, key. */
const RENAME_KEY = `
if redis.call('EXISTS', KEYS[1]) == 1 then redis.call('RENAME', KEYS[1], KEYS[2]) end
return 1`;

export const standardNames: Migration = {
  summary: 'stored fields have their standard names',
  async run(context) {
    const { store } = context;
    for (let offset = 0; ; offset += PAGE) {
      const last = String(offset + PAGE - 1);
      const ids = await store.zrange(`${PREFIX}:runs`, String(offset), last, 'REV');
      for (const id of ids) await migrateRun(context, `${PREFIX}:run:${id}`);
      if (ids.length < PAGE) break;
    }
    for await (const key of keysLike(store, `${PREFIX}:queue:actions:act.*`)) await migrateEntry(store, key);
    for await (const key of keysLike(store, `${PREFIX}:policy:*`))
      await runScript(store, RENAME_FIELD, [key], ['moments', 'cursorSchedule']);
    for (const policy of await store.smembers(`${PREFIX}:ledgers`))
      await migrateLedger(store, `${PREFIX}:ledger:${policy}`);
    // When processes of an older release were last seen: none of them is running now.
    await store.unlink(`${PREFIX}:presence`);
    await runScript(store, RENAME_KEY, [`${PREFIX}:attended`, `${PREFIX}:supervised`], []);
  },
};

async function migrateRun({ store }: MigrationContext, run: string): Promise<void> {
  await runScript(store, RENAME_FIELD, [run], ['planStep', 'planFence']);
  await runScript(store, RENAME_KEY, [`${run}:left-out`, `${run}:excluded`], []);
  const targets = `${run}:targets`;
  let cursor = '0';
  do {
    const [next, page] = await store.hscan(targets, cursor, 'COUNT', PAGE);
    const writes: Promise<unknown>[] = [];
    for (let at = 0; at + 1 < page.length; at += 2) {
      const [id = '', json = ''] = [page[at], page[at + 1]];
      const place = { hash: targets, field: id, read: json };
      writes.push(replaceField(store, place, (value) => migrateTarget(value, targets)));
    }
    await Promise.all(writes);
    cursor = next;
  } while (cursor !== '0');
}

/** A ledger is a sorted set of records as JSON, by scheduled time. */
async function migrateLedger(store: Store, ledger: string): Promise<void> {
  for (let offset = 0; ; offset += PAGE) {
    const page = await store.zrange(ledger, String(offset), String(offset + PAGE - 1));
    await Promise.all(
      page.map((json) => {
        const record = parseRecord(Fields, json, ledger);
        if (record['moment'] === undefined) return undefined;
        const migrated = toJson(renamed(record, { moment: 'scheduledFor' }));
        return runScript(store, REPLACE_MEMBER, [ledger], [json, migrated]);
      }),
    );
    if (page.length < PAGE) return;
  }
}

/** BullMQ keeps an entry in the field `data` of a hash of its own. */
async function migrateEntry(store: Store, key: string): Promise<void> {
  if ((await store.type(key)) !== 'hash') return;
  const json = await store.hget(key, 'data');
  if (!json) return;
  await replaceField(store, { hash: key, field: 'data', read: json }, (value) =>
    JSON.stringify(renamed(parseRecord(Fields, value, key), { step: 'fence' })),
  );
}
