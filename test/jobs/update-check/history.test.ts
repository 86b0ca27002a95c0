/** Which runs of auto update schedules there are to tell of: none is missed, and none is told twice. */
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

/** Six plain sites with one schedule for the first of them, which runs when a test says so. */
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

/** Starts a run that takes so long; gives its task. */
function runFor(ms: number): string {
  sandbox.site('site-0001').fallBehind();
  return sandbox.schedule(schedule).runNow(ms) ?? '';
}

/** A check of a while ago and the tasks that it told of; null when it did not come to its end. */
interface Earlier {
  at: number;
  told: string[] | null;
}

/** The tasks that a check now would tell of, after these, newest first. */
async function toTell(...before: Earlier[]): Promise<(string | null | undefined)[]> {
  const earlier = async function* (): AsyncGenerator<EarlierTarget> {
    for (const { at, told } of before) {
      const standing = { severity: 'info' as const, about: 'schedule', message: 'Active.' };
      const findings = told === null ? [] : [standing, ...told.map((task) => ({ ...standing, task }))];
      yield { at, id: schedule, findings };
    }
  };
  const reading = createJobApi(client, PERSON, readOnlyCall(client, PERSON));
  const { schedules } = await readUpdateHistory({ ...reading, earlier }, clock.now() - 14 * DAY);
  return schedules.get(schedule)?.entries.map(({ task_id }) => task_id) ?? [];
}

test('the first check tells of what it looks back for, and of nothing before', async () => {
  runFor(HOUR);
  await clock.advance(10 * DAY);
  const second = runFor(HOUR);
  await clock.advance(10 * DAY);
  const third = runFor(HOUR);

  expect(await toTell()).toEqual([third, second]);
});

test('a later check goes back to the one before, also when that is longer ago than a first one looks', async () => {
  const first = runFor(HOUR);
  await clock.advance(2 * HOUR);
  const check = { at: clock.now(), told: [first] };
  await clock.advance(3 * HOUR);
  const second = runFor(HOUR);
  await clock.advance(30 * DAY);

  expect(await toTell(check)).toEqual([second]);
});

test('a run that began long before the last check, and ended after it, is told', async () => {
  const long = runFor(9 * HOUR);
  await clock.advance(5 * HOUR);
  const check = { at: clock.now(), told: [] };
  await clock.advance(DAY);

  expect(await toTell(check)).toEqual([long]);
});

test('a run that still goes on is told however long ago it began', async () => {
  const endless = runFor(40 * DAY);
  await clock.advance(20 * DAY);
  const check = { at: clock.now() - DAY, told: [] };

  expect(await toTell(check)).toEqual([endless]);
});

test('what ended just before the last check, and was told by it or by the one before, is not told again', async () => {
  const first = runFor(HOUR / 6);
  await clock.advance(HOUR / 4);
  const early = { at: clock.now(), told: [first] };
  const second = runFor(HOUR / 6);
  await clock.advance(HOUR / 4);
  const late = { at: clock.now(), told: [second] };
  await clock.advance(HOUR / 12);
  const third = runFor(HOUR / 6);
  await clock.advance(HOUR / 4);

  expect(await toTell(late, early)).toEqual([third]);
});

test('what a check did not come to tell, the next one tells, and nothing that was told before it', async () => {
  const first = runFor(HOUR);
  await clock.advance(2 * HOUR);
  const good = { at: clock.now(), told: [first] };
  await clock.advance(3 * HOUR);
  const second = runFor(HOUR);
  await clock.advance(4 * HOUR);
  const calledOff = { at: clock.now(), told: null };
  await clock.advance(DAY);
  const third = runFor(HOUR);

  expect(await toTell(calledOff, good)).toEqual([third, second]);
});
