/** `runs.compare`: what differs between a run and an earlier one of its policy. */
import { beforeEach, expect, test } from 'vitest';
import { carryOut } from '../../src/control/carry-out.ts';
import { compareRuns, formatComparison } from '../../src/control/commands/compare-runs.ts';
import { openRecords } from '../../src/records/records.ts';
import type { Run, TargetIn } from '../../src/run/run.ts';
import { aRun, ended } from '../dashboard/world.ts';
import { heldClock } from '../support/held-clock.ts';
import { redisOfFile } from '../support/redis-of-file.ts';
import { workedOn } from '../support/worked-on.ts';
import { viewer } from './acting.ts';

const NOON = Date.parse('2026-11-21T12:00:00Z');
const DAY = 86_400_000;

const { redis } = await redisOfFile();
const records = openRecords(redis);
beforeEach(() => redis.flushall());

const run = (id: string, daysBefore: number, targets: TargetIn<'ended'>[], changes: Partial<Run> = {}) =>
  workedOn(records, aRun({ id, createdAt: NOON - daysBefore * DAY, ...changes }), targets);

function compare(run: string, other?: string) {
  const deps = { records, clock: heldClock(NOON) } as unknown as Parameters<typeof compareRuns.carryOut>[1];
  return carryOut(compareRuns, deps, { run, with: other }, viewer);
}

const took = (seconds: number) => ({ startedAt: NOON, finishedAt: NOON + seconds * 1_000 });

test('each target that differs is listed by how, the gravest first, and the others are counted', async () => {
  await run('sync.1', 1, [
    ended('well', 'succeeded', took(5)),
    ended('a-little-slower', 'succeeded', took(30)),
    ended('slower', 'succeeded', took(30)),
    ended('broke', 'succeeded'),
    ended('broken', 'failed'),
    ended('mended', 'failed'),
    ended('frozen', 'failed'),
    ended('left', 'succeeded'),
  ]);
  await run('sync.2', 0, [
    // Almost three times as long, but less than ten seconds longer.
    ended('well', 'succeeded', took(14)),
    ended('a-little-slower', 'succeeded', took(59)),
    ended('slower', 'succeeded', took(61)),
    ended('broke', 'failed'),
    ended('new-and-broken', 'failed'),
    ended('broken', 'failed'),
    ended('mended', 'succeeded'),
    ended('frozen', 'skipped'),
    ended('new', 'succeeded'),
  ]);

  const { other, targets, counts } = await compare('sync.2');

  expect(other.id).toBe('sync.1');
  expect(targets.map(({ id, change }) => [change, id])).toEqual([
    ['newly-failed', 'broke'],
    ['newly-failed', 'new-and-broken'],
    ['failed-again', 'broken'],
    ['recovered', 'mended'],
    ['left-out', 'frozen'],
    ['slower', 'slower'],
    ['added', 'new'],
    ['removed', 'left'],
  ]);
  expect(targets.find(({ id }) => id === 'slower')).toMatchObject({
    before: { ms: 30_000 },
    now: { ms: 61_000 },
  });
  expect(formatComparison(counts)).toBe(
    '2 newly failed, 1 failed again, 1 recovered, 1 left out, 1 slower, 1 added, 1 removed, 2 as before',
  );
});

test('the other run is the one before, the one nearest to some time before, or one that is named', async () => {
  const one = [ended('site', 'succeeded')];
  await run('weekly', 7.01, one);
  await run('six-days', 6.4, one);
  await run('yesterday', 1, one);
  await run('of-another-account', 0.5, one, { account: 'other' });
  await run('a-retry', 0.4, one, { retryOf: 'yesterday', trigger: 'retry' });
  await run('without-targets', 0.3, []);
  await run('of-another-policy', 0.2, one, { policy: 'other' });
  await run('tonight', 0, one);

  expect((await compare('tonight')).other.id).toBe('yesterday');
  expect((await compare('tonight', '7d')).other.id).toBe('weekly');
  expect((await compare('tonight', 'six-days')).other.id).toBe('six-days');
  await expect(compare('tonight', '30d')).rejects.toThrow(
    'There is no run of nightly-sync with targets within 12 h of 30d before this one.',
  );
  await expect(compare('weekly')).rejects.toThrow('There is no earlier run of nightly-sync with targets.');
  for (const name of ['of-another-policy', 'of-another-account', 'tonight', 'nothing'])
    await expect(compare('tonight', name)).rejects.toThrow(
      `"${name}" is no other run of nightly-sync in the account default`,
    );
});
