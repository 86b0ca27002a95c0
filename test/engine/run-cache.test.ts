/** What a process remembers of runs ends when Redis was emptied. */
import { expect, test } from 'vitest';
import { RunCache } from '../../src/engine/deps.ts';
import { openRecords } from '../../src/records/records.ts';
import { aPolicy, aRun } from '../support/builders.ts';
import { NOON } from '../support/held-clock.ts';
import { redisOfFile } from '../support/redis-of-file.ts';

const { redis } = await redisOfFile();

test('a run that gets the id of an earlier one after Redis was emptied is worked on by its own policy', async () => {
  const records = openRecords(redis);
  await records.generation.raise(NOON);
  const cache = new RunCache(records, ({ policyJson }) => policyJson);
  const [former, edited] = ['former', 'edited'].map((hash) => JSON.stringify(aPolicy({ hash })));
  const backfill = aRun({ id: 'nightly.20261121T010000Z-backfill', trigger: 'backfill' });
  const limits = { concurrency: 1, targetMs: 1_000 };
  await records.runs.create({ ...backfill, policyJson: former ?? '' }, limits);
  expect(await cache.get(backfill.id)).toBe(former);

  await redis.flushall();
  await records.generation.raise(NOON);
  expect(await cache.get(backfill.id)).toBeUndefined();
  await records.runs.create({ ...backfill, policyJson: edited ?? '' }, limits);

  expect(await cache.get(backfill.id)).toBe(edited);
});
