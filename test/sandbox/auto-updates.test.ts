import { describe, expect, test } from 'vitest';
import { type Calling, startCalling } from './calling.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

type Entry = {
  auto_update_schedule: { name: string };
  status: string;
  performed_on: string;
  task_id: string;
};

describe('the fleet', () => {
  test('has schedules of all kinds, one of them paused', async () => {
    const { get } = await startCalling();
    const { auto_update_schedules } = (await get('/auto-update-schedules?sort=created_at,asc')).body;
    type Shown = { name: string; status: string; schedule: string };
    expect(
      auto_update_schedules.map(({ name, status, schedule }: Shown) => [name, status, schedule]),
    ).toEqual([
      ['Weekly core and themes', 'active', 'weekly_on_day'],
      ['Old hosting', 'active', 'biweekly'],
      ['Being rebuilt', 'active', 'weekly_on_day'],
      ['Nightly plugins', 'active', 'daily'],
      ['Shops', 'paused', 'monthly_on_week'],
      ['Everything', 'active', 'monthly_last_day'],
    ]);
  });

  test('has histories of successful and failed runs, written by the runs themselves', async () => {
    const { get } = await startCalling();
    const { auto_update_history } = (await get('/auto-update-history')).body;
    const statuses = (name: string) =>
      new Set(
        auto_update_history
          .filter((entry: Entry) => entry.auto_update_schedule.name === name)
          .map(({ status }: Entry) => status),
      );
    expect(statuses('Nightly plugins')).toEqual(new Set(['completed', 'no_updates']));
    expect(statuses('Weekly core and themes')).toEqual(new Set(['completed', 'no_updates']));
    expect(statuses('Old hosting')).toEqual(new Set(['failed']));
    expect(statuses('Being rebuilt')).toEqual(new Set(['aborted']));
    expect(statuses('Shops')).toEqual(new Set());
  });

  test('of a few sites has no schedule without sites', async () => {
    for (const sites of [0, 1, 3, 8]) {
      const { get } = await startCalling({ sites });
      for (const { scope } of (await get('/auto-update-schedules')).body.auto_update_schedules) {
        expect(scope.sites.ids ?? ['all']).not.toEqual([]);
      }
    }
  });
});

test('a site that cannot be updated fails alone: the other sites of the run are updated', async () => {
  const { get } = await startCalling();
  const [entry] = (await get('/auto-update-history?filters[status:eq]=failed')).body.auto_update_history;
  const { task } = (await get(`/tasks/${entry.task_id}`)).body;
  expect(task).toMatchObject({ status: 'failed', progress: { metrics: { sites: { done: 1, total: 3 } } } });
  expect(task.details.sites.map(({ status }: Entry) => status)).toEqual(['completed', 'failed', 'failed']);
  const [good, bad] = task.details.sites;
  expect(good.steps.at(-1)).toMatchObject({ status: 'completed', error: {} });
  expect(bad.steps.at(-1)).toMatchObject({ status: 'failed', error: { code: 'step_failed' } });
});

/** A schedule that runs after an hour; gives its answer. */
async function schedule({ post }: Calling, scope: object, more: object = {}) {
  const auto_update_schedule = {
    name: 'x',
    schedule: 'daily',
    started_at: '2026-11-21T13:00:00Z',
    scope,
    ...more,
  };
  return (await post('/auto-update-schedules', { auto_update_schedule })).body;
}
/** The first run of a schedule. */
async function runOf(
  { get }: Calling,
  { auto_update_schedule: { id } }: { auto_update_schedule: { id: string } },
) {
  return (await get(`/auto-update-history?filters[auto_update_schedule_id:eq]=${id}`)).body
    .auto_update_history[0];
}

test('the steps are those of the schedule', async () => {
  const calling = await startCalling({ sites: 9 });
  // No schedule of the fleet has updated it.
  const sites = { selection: 'specific', ids: ['site-0009'] };
  const all = { selection: 'all' };
  const scope = { sites, updates: { wordpress_core: true, plugins: all, themes: all } };
  const made = await schedule(calling, scope, { options: { backup: true, visual_regression: true } });
  await calling.clock.advance(HOUR + MINUTE);
  const { task_id } = await runOf(calling, made);
  const { task } = (await calling.get(`/tasks/${task_id}`)).body;
  expect(task.details.sites[0].steps.map(({ type }: { type: string }) => type)).toEqual([
    'backup',
    'update_core',
    'update_plugin',
    'update_theme',
    'compare_screenshots',
  ]);
});

test('disconnected, locked and deleted sites are skipped', async () => {
  const calling = await startCalling({ sites: 13 });
  const { sandbox, clock, remove } = calling;
  const ids = ['site-0010', 'site-0011', 'site-0012', 'site-0013'];
  sandbox.site('site-0010').disconnect();
  sandbox.site('site-0011').lock(true);
  const sites = { selection: 'specific', ids };
  const made = await schedule(calling, { sites, updates: { plugins: { selection: 'all' } } });
  await clock.advance(HOUR);
  const updated = async () => (await runOf(calling, made)).sites.map((site: { id: string }) => site.id);
  expect(await updated()).toEqual(['site-0012', 'site-0013']);
  await remove('/sites/site-0013');
  expect(await updated()).toEqual(['site-0012']);
});

test('enabling an active schedule, or disabling a paused one, answers 422', async () => {
  const { sandbox, post } = await startCalling({ sites: 8 });
  const act = async (action: string) => (await post(`/auto-update-schedules/schedule-0001/${action}`)).body;
  expect((await act('enable')).error.code).toBe('already_active');
  await act('disable');
  expect((await act('disable')).error.code).toBe('already_paused');
  expect(sandbox.journal.effectsOf('disableAutoUpdateSchedule')).toEqual(['schedule-0001']);
});

test('a schedule needs sites, something to update, and filenames where they are specific', async () => {
  const calling = await startCalling({ sites: 1 });
  const codeOf = async (scope: object) => (await schedule(calling, scope)).error.code;
  const plugins = { selection: 'all' };
  expect(await codeOf({})).toBe('nothing_to_update');
  expect(await codeOf({ updates: { wordpress_core: false, plugins: null } })).toBe('nothing_to_update');
  expect(await codeOf({ sites: { selection: 'specific', ids: [] }, updates: { plugins } })).toBe('no_sites');
  expect(await codeOf({ updates: { plugins: { selection: 'specific' } } })).toBe('no_filenames');
  expect(calling.sandbox.journal.effects).toEqual([]);
});
