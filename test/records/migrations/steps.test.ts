/** The single steps: each can be interrupted, executed twice at the same time, and beside processes that work. */
import { beforeEach, expect, test } from 'vitest';
import { keys } from '../../../src/records/keys.ts';
import { ownKeys } from '../../../src/records/migrations/0001-own-keys.ts';
import { totals } from '../../../src/records/migrations/0002-totals.ts';
import { standardNames } from '../../../src/records/migrations/0004-standard-names.ts';
import { findingIndexes } from '../../../src/records/migrations/0005-finding-indexes.ts';
import { openRecords } from '../../../src/records/records.ts';
import { around } from '../../support/between.ts';
import { aRun, aTarget } from '../../support/builders.ts';
import { findIn } from '../../support/findings.ts';
import { loadRecords, recordsOf } from '../../support/old-records.ts';
import { keptLog } from '../../support/quiet.ts';
import { redisOfFile } from '../../support/redis-of-file.ts';

const { redis } = await redisOfFile();
const records = openRecords(redis);
beforeEach(() => redis.flushall());

const HOUR = 3_600_000;
const NOON = Date.parse('2026-11-21T12:00:00Z');
const context = { store: redis, now: NOON + 2 * HOUR, log: keptLog() };

test('the queues are moved with all their entries, even if the step was interrupted', async () => {
  const old = recordsOf('ce02494');
  await loadRecords(redis, old);
  const names = (await redis.keys('{caretaker}:actions:*')).map((key) => key.slice('{caretaker}'.length));
  await redis.rename('{caretaker}:actions:active', '{caretaker}:queue:actions:active');

  await Promise.all([ownKeys.run(context), ownKeys.run(context)]);
  await ownKeys.run(context);

  const moved = (await redis.keys('{caretaker}:queue:actions:*')).map((key) =>
    key.slice('{caretaker}:queue'.length),
  );
  expect(moved.sort()).toEqual(names.sort());
  expect(await redis.keys('{caretaker}:plans:*')).toEqual([]);
  expect(await redis.smembers(keys.activeAccounts)).toEqual(expect.arrayContaining(['default', 'other']));
  expect(await redis.hgetall(keys.freeze)).toHaveProperty('pause');
});

test('runs that ended before totals existed are added once, each in its hour', async () => {
  for (let index = 0; index < 600; index += 1) {
    const run = aRun({ id: `old.${index}`, policy: 'sync' });
    await records.runs.create(run, { concurrency: 5, targetMs: 60_000 });
    await records.runs.move(run, 'planning', { at: NOON });
    await records.plans.add(run.id, await records.plans.begin(run.id), [
      aTarget('a', { state: 'ended', outcome: 'failed', reason: 'timeout' }),
    ]);
    await records.runs.move(run, 'running', { at: NOON, planComplete: true });
    await records.runs.move(run, 'partial', { at: NOON + (index % 2) * HOUR });
  }
  const open = aRun({ id: 'open', policy: 'sync' });
  await records.runs.create(open, { concurrency: 5, targetMs: 60_000 });
  // The records as a version without totals wrote them.
  await redis.del(keys.totals(NOON), keys.totals(NOON + HOUR));
  await Promise.all(
    Array.from({ length: 600 }, (_, index) => redis.hdel(keys.run(`old.${index}`), 'totalled')),
  );

  await Promise.all([totals.run(context), totals.run(context)]);
  await totals.run(context);

  const sum = await records.totals.between(NOON, NOON + HOUR);
  expect(sum.runs).toMatchObject([{ status: 'partial', policy: 'sync', count: 600 }]);
  expect(sum.targets).toMatchObject([{ reason: 'timeout', count: 600, runs: 600 }]);
  expect(sum.active).toEqual([open.id]);
  expect((await records.totals.between(NOON + HOUR, NOON + HOUR)).runs).toMatchObject([{ count: 300 }]);
});

/** Everything that Redis contains, as text. */
async function everything(): Promise<string> {
  const all = await redis.keys('*');
  const values = await Promise.all(
    all.map(async (key) => {
      const type = await redis.type(key);
      if (type === 'hash') return JSON.stringify(await redis.hgetall(key));
      if (type === 'zset') return JSON.stringify(await redis.zrange(key, '0', '-1', 'WITHSCORES'));
      return type === 'list' ? JSON.stringify(await redis.lrange(key, 0, -1)) : '';
    }),
  );
  return [...all, ...values].join('\n').replaceAll('\\', '');
}

test('no stored field keeps its old name, even if the step was interrupted', async () => {
  await loadRecords(redis, recordsOf('ce02494'));
  await ownKeys.run(context);
  const former = /"(step|memo|says|moment|moments|planStep)":|:attended/g;
  expect(new Set((await everything()).match(former))).toHaveProperty('size', 7);
  const [policy = ''] = await redis.smembers(keys.ledgers);
  const times = await redis.zrange(keys.ledger(policy), '0', '-1', 'WITHSCORES');

  await Promise.all([standardNames.run(context), standardNames.run(context)]);
  await standardNames.run(context);

  expect((await everything()).match(former)).toBeNull();
  const scores = (await redis.zrange(keys.ledger(policy), '0', '-1', 'WITHSCORES')).filter(
    (_, at) => at % 2 === 1,
  );
  expect(scores).toEqual(times.filter((_, at) => at % 2 === 1));
  const entry = '{caretaker}:queue:actions:act.first-notes.20261121T192215Z-bce8.site-0007.1';
  expect(JSON.parse((await redis.hget(entry, 'data')) ?? '')).toMatchObject({ kind: 'act', fence: 1 });
});

test('what a process writes to a target while it is migrated stays, whatever version it was read in', async () => {
  const run = aRun({ id: 'now.1' });
  await records.runs.create(run, { concurrency: 5, targetMs: 60_000 });
  await records.runs.move(run, 'planning', { at: NOON });
  // Redis writes a slash in its own way, so that the text of a current target also changes.
  const target = aTarget('a', { label: 'https://a.example' });
  await records.plans.add(run.id, await records.plans.begin(run.id), [target]);
  await records.runs.move(run, 'running', { at: NOON, planComplete: true });
  const [dispatched] = await records.targets.dispatch(run.id, NOON, 1);
  if (!dispatched) throw new Error('There is one target, and it is free.');
  await redis.hset(keys.targets(run.id), 'old', '{"id":"old","step":1}');
  const store = redis.duplicate();
  around(store, 'hscan', async (read) => {
    const page = await read();
    await records.targets.claim(run, dispatched, NOON);
    await redis.hset(keys.targets(run.id), 'old', '{"id":"old","step":2}');
    return page;
  });

  await standardNames.run({ ...context, store });

  expect(await records.targets.get(run.id, 'a')).toMatchObject({ claimed: true, fence: 2 });
  expect(await redis.hget(keys.targets(run.id), 'old')).toBe('{"id":"old","fence":2}');
  store.disconnect();
});

test('findings of older records can be listed, even if the step was interrupted', async () => {
  const found = [{ target: 'a' }, { target: 'b', severity: 'warning' }] as const;
  await findIn(records, { account: 'of: ours', policy: 'checks', at: NOON, found });
  const read = async () => ({
    groups: await records.openFindings.groups(await records.openFindings.policies(), 0),
    ofSite: await records.openFindings.ofSite({ account: 'of: ours', policy: 'checks' }, 'a'),
  });
  const before = await read();
  const indexes = ['finding-policies', 'findings-since', 'findings-of-sites'];
  for (const name of indexes) await redis.del(...(await redis.keys(`{caretaker}:${name}*`)));
  expect((await read()).groups).toEqual([]);

  await Promise.all([findingIndexes.run(context), findingIndexes.run(context)]);
  await findingIndexes.run(context);

  expect(before.groups).toHaveLength(2);
  expect(before.ofSite).toHaveLength(1);
  expect(await read()).toEqual(before);
  for (const key of await redis.keys('{caretaker}:finding*'))
    if (!key.includes('-at:')) expect(await redis.pttl(key), key).toBeGreaterThan(0);
});
