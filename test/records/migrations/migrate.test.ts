/** How records are migrated to the version of this release, and which processes are refused meanwhile. */
import { Redis } from 'ioredis';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { keys } from '../../../src/records/keys.ts';
import { LockStore } from '../../../src/records/lock-store.ts';
import { prepareRecords } from '../../../src/records/migrations/migrate.ts';
import type { Migration } from '../../../src/records/migrations/migrations.ts';
import { PresenceStore } from '../../../src/records/presence-store.ts';
import { heldClock } from '../../support/held-clock.ts';
import { keptLog } from '../../support/quiet.ts';
import { redisOfFile } from '../../support/redis-of-file.ts';

const { redis, server } = await redisOfFile();
const clock = heldClock();
const log = keptLog();
let done: string[] = [];
beforeEach(async () => {
  await redis.flushall();
  done = [];
  log.lines.length = 0;
});

/** Invented steps, which record that they were executed. The first leads to version 2. */
const steps = (...names: string[]): Migration[] =>
  names.map((name) => ({
    summary: `step ${name}`,
    async run() {
      done.push(name);
    },
  }));
const prepare = (migrations: Migration[], owner = 'here.1.aaaa-v9', store: Redis = redis) =>
  prepareRecords({ store, owner, clock, log, migrations });
const schema = () => redis.hgetall(keys.schema);
/** Records of version 1, of which there are some. */
const recordsOfVersion1 = async () => {
  await redis.hset(keys.schema, 'version', 1, 'migrated', 1);
  await redis.zadd(keys.runs, 1, 'a-run');
};

const presence = (id: string, ageMs = 0) => ({
  ...{ id, pid: 7, host: 'web-1', roles: ['worker'], startedAt: 0 },
  seenAt: clock.now() - ageMs,
});

test('an empty Redis gets the newest version at once, and nothing is logged', async () => {
  await prepare(steps('a', 'b'));

  expect(await schema()).toEqual({ version: '3', migrated: '3' });
  expect([done, log.lines]).toEqual([[], []]);
  expect(await redis.exists(keys.lock('schema'))).toBe(0);
});

test('records of an older version are migrated by the missing steps, in order, and each is logged', async () => {
  await recordsOfVersion1();
  await prepare(steps('a'));
  await prepare(steps('a', 'b', 'c'));

  expect(done).toEqual(['a', 'b', 'c']);
  expect(await schema()).toEqual({ version: '4', migrated: '4' });
  expect(log.lines).toEqual([
    'info the records were migrated to version 2: step a',
    'info the records were migrated to version 3: step b',
    'info the records were migrated to version 4: step c',
  ]);
});

test('an interrupted migration continues with the step that was interrupted', async () => {
  const [a, b, c] = steps('a', 'b', 'c');
  if (!a || !b || !c) throw new Error('three steps');
  const broken = { ...b, run: () => Promise.reject(new Error('the process ended here')) };
  await recordsOfVersion1();
  await expect(prepare([a, broken, c])).rejects.toThrow('ended here');
  expect(await schema()).toEqual({ version: '4', migrated: '2' });

  await prepare([a, b, c]);

  expect(done).toEqual(['a', 'b', 'c']);
  expect(await schema()).toEqual({ version: '4', migrated: '4' });
});

test('records that are emptied during a migration have their version after it', async () => {
  const emptied = { summary: '', run: async () => void (await redis.flushall()) };

  await recordsOfVersion1();

  await prepare([...steps('a'), emptied, ...steps('c')]);

  expect(await schema()).toEqual({ version: '4', migrated: '4' });
});

test('when several processes start at once, one migrates and the others wait for it', async () => {
  await recordsOfVersion1();
  const others = [1, 2, 3].map(() => new Redis(server.options));
  await Promise.all(others.map((store, index) => prepare(steps('a', 'b'), `here.${index}.aaaa-v3`, store)));
  for (const store of others) store.disconnect();

  expect(done).toEqual(['a', 'b']);
});

test('a process of an older release gets an error that says what to do, and changes nothing', async () => {
  await prepare(steps('a', 'b', 'c'));
  done = [];

  await expect(prepare(steps('a', 'b'))).rejects.toMatchObject({
    code: 'NEWER_RECORDS',
    message:
      'The records in Redis have version 4, and this release of Caretaker works with version 3: upgrade Caretaker on this machine, or connect it to another Redis (REDIS_URL).',
  });
  expect(done).toEqual([]);
  expect(await schema()).toEqual({ version: '4', migrated: '4' });
});

test('a process of an older release is refused from the start of a migration, not from its end', async () => {
  const seen: unknown[] = [];
  const step = {
    summary: '',
    run: async () => void seen.push(await prepare(steps('a')).catch((e) => e.code)),
  };
  await recordsOfVersion1();
  await prepare([...steps('a'), step]);

  expect(seen).toEqual(['NEWER_RECORDS']);
});

test('nothing is migrated while a daemon of an older release is running, and the error names it', async () => {
  await recordsOfVersion1();
  await prepare(steps('a'));
  const shown = new PresenceStore(redis);
  await shown.announce(presence('web-1.7.9f2c01ab-v2'));
  await shown.announce(presence('web-2.8.01ab9f2c'));
  await shown.announce(presence('web-3.9.01ab9f2c', 15_001));
  done = [];

  await expect(prepare(steps('a', 'b'))).rejects.toMatchObject({
    code: 'OLDER_PROCESSES',
    message:
      'The records in Redis have to be migrated for this release of Caretaker, and an older release still uses them: process 7 on web-1, process 8 on web-2. Stop them, then start this one again.',
  });
  expect(done).toEqual([]);
  expect(await schema()).toEqual({ version: '2', migrated: '2' });

  await shown.withdraw('web-1.7.9f2c01ab-v2');
  await shown.withdraw('web-2.8.01ab9f2c');
  await prepare(steps('a', 'b'));
  expect(done).toEqual(['b']);
});

test('a command of an older release that works on a run also counts, because it holds the lease of the account', async () => {
  await recordsOfVersion1();
  await redis.sadd(keys.activeAccounts, 'agency');
  await new LockStore(redis).acquire('supervisor:agency', 'laptop.12.9f2c01ab-v1', 60_000);

  await expect(prepare(steps('a'))).rejects.toThrow(
    'an older release still uses them: process 12 on laptop. Stop it',
  );
});

test('processes of the same release do not block each other', async () => {
  await recordsOfVersion1();
  await new PresenceStore(redis).announce(presence('web-1.7.9f2c01ab-v3'));
  await prepare(steps('a', 'b'));

  expect(done).toEqual(['a', 'b']);
});

afterEach(async () => {
  expect(await redis.exists(keys.lock('schema'))).toBe(0);
});
