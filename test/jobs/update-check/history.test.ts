/** Which runs of auto update schedules a check reports: none is missed, and none is reported twice. */
import { expect, test } from 'vitest';
import { readUpdateHistory } from '../../../jobs/update-check/history.ts';
import type { EarlierTarget } from '../../../src/job/job.ts';
import { type OpenAccount, openAccount } from '../../support/account.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

let account: OpenAccount;
let schedule: string;

/** An account with one schedule, for its first site, which a test starts. */
async function start(): Promise<void> {
  account = await openAccount();
  const { call } = account;
  const { auto_update_schedules: planted } = await call('listAutoUpdateSchedules', {});
  for (const { id } of planted) await call('deleteAutoUpdateSchedule', { auto_update_schedule_id: id });
  const auto_update_schedule = {
    name: 'Plugins',
    schedule: 'monthly_last_day' as const,
    started_at: new Date(account.now() + 300 * DAY).toISOString(),
    scope: {
      sites: { selection: 'specific' as const, ids: ['site-0001'] },
      updates: { plugins: { selection: 'all' as const } },
    },
  };
  const made = await call('createAutoUpdateSchedule', { body: { auto_update_schedule } });
  schedule = made.auto_update_schedule.id;
}

/** Starts a run that takes `ms`, and gives its task. */
function runFor(ms: number): string {
  account.sandbox.site('site-0001').fallBehind();
  return account.sandbox.schedule(schedule).runNow(ms) ?? '';
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
  const { schedules } = await readUpdateHistory({ ...account.looking, earlier }, account.now() - 14 * DAY);
  return schedules.get(schedule)?.entries.map(({ task_id }) => task_id) ?? [];
}

test('the first check reports the runs within its lookback, and no earlier ones', async () => {
  await start();
  runFor(HOUR);
  await account.pass(10 * DAY);
  const second = runFor(HOUR);
  await account.pass(10 * DAY);
  const third = runFor(HOUR);

  expect(await tasksToReport()).toEqual([third, second]);
});

test('a later check goes back to the previous one, even if that is longer ago than the lookback', async () => {
  await start();
  const first = runFor(HOUR);
  await account.pass(2 * HOUR);
  const check = { at: account.now(), reported: [first] };
  await account.pass(3 * HOUR);
  const second = runFor(HOUR);
  await account.pass(30 * DAY);

  expect(await tasksToReport(check)).toEqual([second]);
});

test('a run that started long before the last check and ended after it is reported', async () => {
  await start();
  const long = runFor(9 * HOUR);
  await account.pass(5 * HOUR);
  const check = { at: account.now(), reported: [] };
  await account.pass(DAY);

  expect(await tasksToReport(check)).toEqual([long]);
});

test('a run in progress is reported, however long ago it started', async () => {
  await start();
  const endless = runFor(40 * DAY);
  await account.pass(20 * DAY);
  const check = { at: account.now() - DAY, reported: [] };

  expect(await tasksToReport(check)).toEqual([endless]);
});

test('a run that ended just before the last check and was reported by an earlier check is not reported again', async () => {
  await start();
  const first = runFor(HOUR / 6);
  await account.pass(HOUR / 4);
  const early = { at: account.now(), reported: [first] };
  const second = runFor(HOUR / 6);
  await account.pass(HOUR / 4);
  const late = { at: account.now(), reported: [second] };
  await account.pass(HOUR / 12);
  const third = runFor(HOUR / 6);
  await account.pass(HOUR / 4);

  expect(await tasksToReport(late, early)).toEqual([third]);
});

test('a run that a cancelled check did not report is reported by the next one, and no others again', async () => {
  await start();
  const first = runFor(HOUR);
  await account.pass(2 * HOUR);
  const good = { at: account.now(), reported: [first] };
  await account.pass(3 * HOUR);
  const second = runFor(HOUR);
  await account.pass(4 * HOUR);
  const cancelled = { at: account.now(), reported: null };
  await account.pass(DAY);
  const third = runFor(HOUR);

  expect(await tasksToReport(cancelled, good)).toEqual([third, second]);
});
