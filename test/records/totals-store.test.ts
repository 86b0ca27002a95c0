/** What ended in each hour, counted when runs end. */
import { beforeEach, expect, test } from 'vitest';
import { keys } from '../../src/records/keys.ts';
import { openRecords } from '../../src/records/records.ts';
import type { Run, RunStatus, Target } from '../../src/run/run.ts';
import { aRun, aTarget } from '../support/builders.ts';
import { NOON } from '../support/held-clock.ts';
import { redisOfFile } from '../support/redis-of-file.ts';
import { begun } from './begun.ts';

const { redis } = await redisOfFile();
const records = openRecords(redis);
beforeEach(() => redis.flushall());

const HOUR = 3_600_000;

const ended = (id: string, outcome: Target['outcome'], reason: Target['reason']): Target =>
  aTarget(id, { state: 'ended', ...(outcome ? { outcome } : {}), ...(reason ? { reason } : {}) });

async function endedAt(at: number, status: RunStatus, changes: Partial<Run>, targets: readonly Target[]) {
  const run = await begun(records, targets, { run: changes, at: NOON });
  await records.runs.move(run, status, { at });
  return run;
}

const someFailed = [
  ended('a', 'succeeded', 'done'),
  ended('b', 'failed', 'timeout'),
  ended('c', 'failed', 'timeout'),
  ended('d', 'skipped', 'daily-limit'),
];

test('runs and targets are counted by policy, status and reason, however many runs there are', async () => {
  await Promise.all(
    Array.from({ length: 120 }, (_, index) =>
      endedAt(NOON + index * 60_000, 'partial', { id: `sync.${index}`, policy: 'sync' }, someFailed),
    ),
  );
  await endedAt(NOON + HOUR, 'failed', { id: 'mail.1', policy: 'mail' }, [ended('a', 'failed', 'timeout')]);

  const { since, runs, targets } = await records.totals.between(NOON + 5, NOON + 2 * HOUR);

  expect(since).toBe(NOON);
  const [sync, mail] = [
    { policy: 'sync', account: 'agency', runs: 120, latest: 'sync.119' },
    { policy: 'mail', account: 'agency', runs: 1, latest: 'mail.1' },
  ];
  expect(runs).toContainEqual({ ...sync, status: 'partial', count: 120 });
  expect(runs).toContainEqual({ ...mail, status: 'failed', count: 1 });
  const timeouts = targets.filter(({ reason }) => reason === 'timeout');
  const failed = { outcome: 'failed', reason: 'timeout' };
  expect(timeouts).toEqual([
    { ...sync, ...failed, count: 240 },
    { ...mail, ...failed, count: 1 },
  ]);
  const succeeded = targets.filter(({ outcome }) => outcome === 'succeeded');
  expect(succeeded).toMatchObject([{ reason: 'done', count: 120 }]);
});

test('a run that is ended twice, or whose end is sent again, counts once', async () => {
  const run = await begun(records, someFailed, { run: { policy: 'sync' }, at: NOON });
  await Promise.all(
    ['partial', 'partial', 'stopped'].map((status) =>
      records.runs.move(run, status as RunStatus, { at: NOON }),
    ),
  );
  await records.runs.move(run, 'cancelled', { at: NOON + HOUR });
  const { runs, targets } = await records.totals.between(NOON, NOON + HOUR);

  expect(runs).toMatchObject([{ status: 'partial', count: 1 }]);
  expect(targets.map(({ count }) => count).sort()).toEqual([1, 1, 2]);
});

test('an active run is in no total, and is listed separately', async () => {
  const run = await begun(records, someFailed, { run: { policy: 'sync' }, at: NOON });
  expect(await records.totals.between(NOON, NOON)).toEqual({
    since: NOON,
    active: [run.id],
    hours: [],
    runs: [],
    targets: [],
  });

  await records.runs.move(run, 'partial', { at: NOON });
  expect(await records.totals.between(NOON, NOON)).toMatchObject({ active: [], runs: [{ count: 1 }] });
});

test('targets are also counted by the hour in which their run ended', async () => {
  await endedAt(NOON, 'partial', { id: 'sync.1', policy: 'sync' }, someFailed);
  await endedAt(NOON + 2 * HOUR, 'failed', { id: 'mail.1', policy: 'mail' }, [
    ended('a', 'failed', 'timeout'),
  ]);

  const { hours } = await records.totals.between(NOON, NOON + 3 * HOUR);

  expect(hours).toHaveLength(4);
  expect(hours).toContainEqual(
    expect.objectContaining({ hour: NOON, outcome: 'failed', reason: 'timeout', count: 2 }),
  );
  expect(hours).toContainEqual(
    expect.objectContaining({ hour: NOON, outcome: 'succeeded', reason: 'done', count: 1 }),
  );
  expect(hours).toContainEqual(
    expect.objectContaining({ hour: NOON + 2 * HOUR, outcome: 'failed', reason: 'timeout', count: 1 }),
  );
});

test('a run that is skipped when it is created counts in that hour', async () => {
  const skipped = aRun({
    id: 'late',
    policy: 'sync',
    account: 'agency',
    status: 'skipped',
    createdAt: NOON,
    finishedAt: NOON,
  });
  await Promise.all([1, 2].map(() => records.runs.create(skipped, { concurrency: 5, targetMs: 60_000 })));

  const { runs } = await records.totals.between(NOON, NOON);

  expect(runs).toEqual([
    { status: 'skipped', policy: 'sync', account: 'agency', count: 1, runs: 1, latest: 'late' },
  ]);
});

test('hours outside the requested time are not counted, and each is removed after a day', async () => {
  await endedAt(NOON - 1, 'partial', { policy: 'sync' }, someFailed);
  await endedAt(NOON, 'failed', { policy: 'sync' }, someFailed);

  expect((await records.totals.between(NOON + 1, NOON + HOUR)).runs).toMatchObject([{ status: 'failed' }]);
  for (const hour of [NOON - HOUR, NOON]) {
    const kept = await redis.pttl(keys.totals(hour));
    expect(kept).toBeGreaterThan(25 * HOUR);
    expect(kept).toBeLessThanOrEqual(26 * HOUR);
  }
});
