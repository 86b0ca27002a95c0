/** Which runs of auto update schedules a check reports: none is missed, and none is reported twice. */
import { Redis } from 'ioredis';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { readUpdateHistory } from '../../../jobs/update-check/history.ts';
import { openBudget } from '../../../src/budget/budget.ts';
import { type Client, openClient } from '../../../src/client/client.ts';
import { createJobApi, readOnlyCall } from '../../../src/engine/job-api.ts';
import type { EarlierTarget } from '../../../src/job/job.ts';
import { type Sandbox, startSandbox } from '../../../src/sandbox/sandbox.ts';
import { type HeldClock, heldClock } from '../../support/held-clock.ts';
import { keptLog } from '../../support/quiet.ts';
import { startTestRedis, type TestRedis } from '../../support/redis.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const PERSON = { requestClass: 'person' } as const;

let clock: HeldClock;
let sandbox: Sandbox;
let testRedis: TestRedis;
let redis: Redis;
let client: Client;
let schedule: string;

/** Six sites, and one schedule for the first of them, which a test starts. */
beforeEach(async () => {
  clock = heldClock();
  sandbox = await startSandbox({ sites: 6, clock, rateLimit: 0 });
  testRedis = await startTestRedis();
  redis = new Redis({ ...testRedis.options, maxRetriesPerRequest: null });
  const budget = openBudget(redis, clock, 'default', { requestsPerMinute: 1_000_000, reserve: 0 });
  const account = { name: 'default', baseUrl: sandbox.url, token: sandbox.token };
  client = openClient({ account, budget, clock, log: keptLog() });
  const { auto_update_schedules: planted } = await client.call('listAutoUpdateSchedules', {}, PERSON);
  for (const { id } of planted)
    await client.call('deleteAutoUpdateSchedule', { auto_update_schedule_id: id }, PERSON);
  const auto_update_schedule = {
    name: 'Plugins',
    schedule: 'monthly_last_day' as const,
    started_at: new Date(clock.now() + 300 * DAY).toISOString(),
    scope: {
      sites: { selection: 'specific' as const, ids: ['site-0001'] },
      updates: { plugins: { selection: 'all' as const } },
    },
  };
  const made = await client.call('createAutoUpdateSchedule', { body: { auto_update_schedule } }, PERSON);
  schedule = made.auto_update_schedule.id;
});
afterEach(async () => {
  await client.close();
  redis.disconnect();
  await testRedis.stop();
  await sandbox.stop();
});

/** Starts a run that takes `ms`, and gives its task. */
function runFor(ms: number): string {
  sandbox.site('site-0001').fallBehind();
  return sandbox.schedule(schedule).runNow(ms) ?? '';
}

/** An earlier check and the tasks that it reported; null when it was not completed. */
interface Earlier {
  at: number;
  reported: string[] | null;
}

/** The tasks that a check would report now, after these earlier checks, newest first. */
async function tasksToReport(...before: Earlier[]): Promise<(string | null | undefined)[]> {
  const earlier = async function* (): AsyncGenerator<EarlierTarget> {
    for (const { at, reported } of before) {
      const ofSchedule = { severity: 'info' as const, about: 'schedule', message: 'Active.' };
      const findings =
        reported === null ? [] : [ofSchedule, ...reported.map((task) => ({ ...ofSchedule, task }))];
      yield { at, id: schedule, findings };
    }
  };
  const reading = createJobApi(client, PERSON, readOnlyCall(client, PERSON));
  const { schedules } = await readUpdateHistory({ ...reading, earlier }, clock.now() - 14 * DAY);
  return schedules.get(schedule)?.entries.map(({ task_id }) => task_id) ?? [];
}

test('the first check reports the runs within its lookback, and no earlier ones', async () => {
  runFor(HOUR);
  await clock.advance(10 * DAY);
  const second = runFor(HOUR);
  await clock.advance(10 * DAY);
  const third = runFor(HOUR);

  expect(await tasksToReport()).toEqual([third, second]);
});

test('a later check goes back to the previous one, even if that is longer ago than the lookback', async () => {
  const first = runFor(HOUR);
  await clock.advance(2 * HOUR);
  const check = { at: clock.now(), reported: [first] };
  await clock.advance(3 * HOUR);
  const second = runFor(HOUR);
  await clock.advance(30 * DAY);

  expect(await tasksToReport(check)).toEqual([second]);
});

test('a run that started long before the last check and ended after it is reported', async () => {
  const long = runFor(9 * HOUR);
  await clock.advance(5 * HOUR);
  const check = { at: clock.now(), reported: [] };
  await clock.advance(DAY);

  expect(await tasksToReport(check)).toEqual([long]);
});

test('a run in progress is reported, however long ago it started', async () => {
  const endless = runFor(40 * DAY);
  await clock.advance(20 * DAY);
  const check = { at: clock.now() - DAY, reported: [] };

  expect(await tasksToReport(check)).toEqual([endless]);
});

test('a run that ended just before the last check and was reported by an earlier check is not reported again', async () => {
  const first = runFor(HOUR / 6);
  await clock.advance(HOUR / 4);
  const early = { at: clock.now(), reported: [first] };
  const second = runFor(HOUR / 6);
  await clock.advance(HOUR / 4);
  const late = { at: clock.now(), reported: [second] };
  await clock.advance(HOUR / 12);
  const third = runFor(HOUR / 6);
  await clock.advance(HOUR / 4);

  expect(await tasksToReport(late, early)).toEqual([third]);
});

test('a run that a cancelled check did not report is reported by the next one, and no others again', async () => {
  const first = runFor(HOUR);
  await clock.advance(2 * HOUR);
  const good = { at: clock.now(), reported: [first] };
  await clock.advance(3 * HOUR);
  const second = runFor(HOUR);
  await clock.advance(4 * HOUR);
  const cancelled = { at: clock.now(), reported: null };
  await clock.advance(DAY);
  const third = runFor(HOUR);

  expect(await tasksToReport(cancelled, good)).toEqual([third, second]);
});
