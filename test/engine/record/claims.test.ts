/** Who may write what is due to a site: the process whose claim holds, and nobody just after Redis was restored. */
import { beforeEach, expect, test } from 'vitest';
import { openRecords } from '../../../src/records/records.ts';
import { aRun } from '../../support/builders.ts';
import { NOON } from '../../support/held-clock.ts';
import { DUE_MS, leaveUnrecorded } from '../../support/recordings.ts';
import { redisOfFile } from '../../support/redis-of-file.ts';

const { redis } = await redisOfFile();
const records = openRecords(redis);
const { outbox, runs } = records;
const SITE = 'site-0001';
const DUE = NOON + DUE_MS;
const MINUTE = 60_000;

/** A run with one site of which nothing is recorded yet. */
const run = aRun();
beforeEach(async () => {
  await redis.flushall();
  await leaveUnrecorded(records, run, { sites: [SITE], at: NOON });
});

async function claim(at: number) {
  const claimed = await outbox.claim(run.account, at, MINUTE);
  if (!claimed) throw new Error('The site is due.');
  return claimed;
}

test('after Redis was restored to an older state everything waits another minute', async () => {
  const claimed = await claim(DUE);
  await outbox.postpone(DUE);

  expect(await outbox.noteIntent(claimed, 'work', { at: DUE })).toBe(false);
  expect(await outbox.claim(run.account, DUE + MINUTE - 1_000, MINUTE)).toBeUndefined();
  expect((await claim(DUE + MINUTE)).site).toBe(SITE);
});

test('a process whose claim was taken by another one sends and writes nothing', async () => {
  const first = await claim(DUE);
  const second = await claim(DUE + MINUTE);
  const record = await outbox.recordOf(run.id, SITE);
  if (!record) throw new Error('The run has something to record.');

  expect(await outbox.noteIntent(first, 'work', { at: DUE })).toBe(false);
  await outbox.setState(first, run.id, 'work', record, { state: 'recorded' });
  await outbox.leave(first, first.runs, { due: DUE });
  expect((await runs.get(run.id))?.recordings).toMatchObject({ recorded: 0 });
  expect((await outbox.state(run.account)).waiting).toBe(1);
  expect(await outbox.noteIntent(second, 'work', { at: DUE })).toBe(true);
});
