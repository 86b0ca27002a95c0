/**
 * Section 4.7 in time: when schedules are due, what their runs do, and the history that they write (2.9,
 * 2.10).
 */
import { expect } from 'vitest';
import { casesOfFile, DAY, HOUR, MINUTE, SECOND, type Tools } from './harness.ts';
import { listCases, moment } from './list-cases.ts';

const { conform, conformHeld } = casesOfFile('4.7 History');
const history = '/auto-update-history';

listCases(conform, {
  path: history,
  key: 'auto_update_history',
  filters: {
    auto_update_schedule_id: { operators: ['eq', 'in'], read: (item) => item.auto_update_schedule.id },
    auto_update_schedule_name: { operators: ['contains'], read: (item) => item.auto_update_schedule.name },
    status: {
      operators: ['eq', 'in'],
      wrong: 'stopped',
      try: ['completed', 'failed', 'aborted', 'no_updates', 'running', 'initializing', 'cancelled'],
    },
    performed_on: moment,
  },
  sorts: ['performed_on', 'auto_update_schedule_name'],
  defaultSort: 'performed_on,desc',
  timezone: false,
});

async function schedule({ call }: Tools, fields: object) {
  const auto_update_schedule = {
    name: 'Ours',
    scope: { updates: { plugins: { selection: 'all' } } },
    ...fields,
  };
  const { status, body } = await call('POST', '/auto-update-schedules', { auto_update_schedule });
  expect([status, body.error]).toEqual([201, undefined]);
  return body.auto_update_schedule;
}

async function runsOf({ call }: Tools, { id }: { id: string }) {
  const { body } = await call('GET', `${history}?filters[auto_update_schedule_id:eq]=${id}`);
  return body.auto_update_history;
}

conformHeld('2.8 Auto update schedule: each recurrence is due, runs, and is due again', async (tools) => {
  let now = Date.parse('2026-11-21T12:00:00Z');
  // By the order in which they are due; the service's clock begins on a Saturday.
  for (const [recurrence, startedAt, due, next] of [
    ['biweekly', '2026-11-07T15:00:00.000Z', '2026-11-21T15:00:00.000Z', '2026-12-05T15:00:00.000Z'],
    ['daily', '2026-10-31T05:00:00.000Z', '2026-11-22T05:00:00.000Z', '2026-11-23T05:00:00.000Z'],
    ['weekly_on_day', '2026-10-31T05:00:00.000Z', '2026-11-28T05:00:00.000Z', '2026-12-05T05:00:00.000Z'],
    ['monthly_last_day', '2026-10-15T05:00:00.000Z', '2026-11-30T05:00:00.000Z', '2026-12-31T05:00:00.000Z'],
    ['monthly_on_date', '2026-10-15T05:00:00.000Z', '2026-12-15T05:00:00.000Z', '2027-01-15T05:00:00.000Z'],
    ['monthly_on_week', '2026-10-15T05:00:00.000Z', '2026-12-17T05:00:00.000Z', '2027-01-21T05:00:00.000Z'],
  ] as const) {
    const made = await schedule(tools, { name: recurrence, schedule: recurrence, started_at: startedAt });
    expect(made).toMatchObject({ name: recurrence, started_at: startedAt, next_update_at: due });
    await tools.time.pass(Date.parse(due) - now - SECOND);
    expect(await runsOf(tools, made), recurrence).toEqual([]);
    await tools.time.pass(SECOND);
    now = Date.parse(due);
    expect(await runsOf(tools, made)).toMatchObject([
      { performed_on: due, auto_update_schedule: { id: made.id, name: recurrence } },
    ]);
    const { body } = await tools.call('GET', `/auto-update-schedules/${made.id}`);
    expect(body.auto_update_schedule.next_update_at, recurrence).toBe(next);
    await tools.call('DELETE', `/auto-update-schedules/${made.id}`);
  }
});

conformHeld(
  '3 Auto update schedule: paused it does not run; enable recalculates next_update_at',
  async (tools) => {
    const made = await schedule(tools, { schedule: 'daily', started_at: '2026-11-20T05:00:00Z' });
    await tools.call('POST', `/auto-update-schedules/${made.id}/disable`);
    await tools.time.pass(3 * DAY);
    expect(await runsOf(tools, made)).toEqual([]);
    const { body } = await tools.call('POST', `/auto-update-schedules/${made.id}/enable`);
    expect(body.auto_update_schedule.next_update_at).toBe('2026-11-25T05:00:00.000Z');
    await tools.time.pass(DAY);
    expect(await runsOf(tools, made)).toHaveLength(1);
  },
);

conformHeld('4.7 Auto update schedules: another recurrence or start moves the next run', async (tools) => {
  const made = await schedule(tools, { schedule: 'daily', started_at: '2026-11-20T05:00:00Z' });
  const update = async (fields: object) => {
    const path = `/auto-update-schedules/${made.id}/update`;
    return (await tools.call('POST', path, { auto_update_schedule: fields })).body.auto_update_schedule;
  };
  expect((await update({ schedule: 'weekly_on_day' })).next_update_at).toBe('2026-11-27T05:00:00.000Z');
  expect((await update({ started_at: '2026-11-19T07:00:00Z' })).next_update_at).toBe(
    '2026-11-26T07:00:00.000Z',
  );
  await tools.time.pass(4 * DAY);
  expect(await runsOf(tools, made)).toEqual([]);
});

conformHeld(
  "2.9 History: a run is a task of type wp_site_update, and its status is the task's",
  async (tools) => {
    const site = await tools.need('/sites?filters[connection_status:eq]=connected&filters[locked:eq]=false');
    const options = { backup: true, visual_regression: false };
    const scope = {
      sites: { selection: 'specific', ids: [site.id] },
      updates: { wordpress_core: true, plugins: { selection: 'all' }, themes: { selection: 'all' } },
    };
    const made = await schedule(tools, {
      schedule: 'daily',
      started_at: '2026-11-21T13:00:00Z',
      scope,
      options,
    });
    await tools.time.pass(HOUR);
    const [run] = await runsOf(tools, made);
    expect(run).toMatchObject({ status: 'initializing', sites: [{ id: site.id }] });
    const show = async () => (await tools.call('GET', `/tasks/${run.task_id}`)).body.task;
    const [updates] = run.sites;
    expect(updates.wp.plugins.length).toBeGreaterThan(0);
    expect(await show()).toMatchObject({
      type: 'wp_site_update',
      input: {
        sites: [{ id: site.id, options: { ...options, sandbox: false }, plugins: updates.wp.plugins }],
      },
    });

    await tools.time.pass(MINUTE);
    expect((await runsOf(tools, made))[0].status).toBe('running');
    const running = (await show()).details.sites[0];
    expect([running.id, running.status]).toEqual([site.id, 'running']);
    expect(running.steps.map(({ type }: { type: string }) => type)).toContain('update_plugin');
    await tools.time.pass(HOUR);
    expect((await runsOf(tools, made))[0].status).toBe('completed');
    expect((await show()).details.sites[0]).toMatchObject({
      status: 'completed',
      progress: { percent: 100 },
    });
  },
);

conformHeld(
  '2.9 History: no_updates created no task and has no sites; what was updated stays so',
  async (tools) => {
    const site = await tools.need('/sites?filters[connection_status:eq]=connected&filters[locked:eq]=false');
    const scope = {
      sites: { selection: 'specific', ids: [site.id] },
      updates: { plugins: { selection: 'all' } },
    };
    const first = await schedule(tools, { schedule: 'daily', started_at: '2026-11-21T13:00:00Z', scope });
    const second = await schedule(tools, { schedule: 'daily', started_at: '2026-11-21T17:00:00Z', scope });
    await tools.time.pass(6 * HOUR);
    expect((await runsOf(tools, first))[0]).toMatchObject({
      status: 'completed',
      task_id: expect.any(String),
    });
    expect(await runsOf(tools, second)).toMatchObject([{ status: 'no_updates', task_id: null, sites: [] }]);
  },
);

conformHeld(
  '2.8 Scope: specific filenames alone are updated, and core alone where only it is wanted',
  async (tools) => {
    const outdated = await tools.need(
      '/sites?filters[connection_status:eq]=connected&filters[locked:eq]=false',
      ({ wp }) => wp.core.update_available,
    );
    const sites = { selection: 'specific', ids: [outdated.id] };
    const plugins = { selection: 'specific', filenames: ['contact-form/contact-form.php'] };
    const started_at = '2026-11-21T13:00:00Z';
    const one = await schedule(tools, {
      schedule: 'daily',
      started_at,
      scope: { sites, updates: { plugins } },
    });
    const core = await schedule(tools, {
      schedule: 'daily',
      started_at: '2026-11-21T14:00:00Z',
      scope: { sites, updates: { wordpress_core: true } },
    });
    await tools.time.pass(4 * HOUR);
    const [plugin] = await runsOf(tools, one);
    expect(plugin.sites[0].wp).toMatchObject({ plugins: [{ filename: plugins.filenames[0] }], themes: [] });
    expect(plugin.sites[0].wp.core ?? null).toBeNull();
    const [run] = await runsOf(tools, core);
    const { current_version, latest_version } = outdated.wp.core;
    expect(run.sites[0].wp).toEqual({
      core: { current_version, target_version: latest_version },
      plugins: [],
      themes: [],
    });
    const { site } = (await tools.call('GET', `/sites/${outdated.id}`)).body;
    expect(site.wp.core).toMatchObject({ current_version: latest_version, update_available: false });
  },
);

conformHeld('2.9 History: a run that fails, is aborted or is cancelled says so', async (tools) => {
  const { sandbox, call, time } = tools;
  const connected = '/sites?filters[connection_status:eq]=connected&filters[locked:eq]=false';
  const { sites } = (await call('GET', connected)).body;
  const isCalm = ({ id }: { id: string }) => !sandbox().site(id).state().underMaintenance;
  const [failing, rebuilt, plain] = sites.filter(isCalm).map(({ id }: { id: string }) => id);
  sandbox().site(failing).failNextSync('The site does not answer.');
  sandbox().site(rebuilt).underMaintenance(true);
  const started_at = '2026-11-21T13:00:00Z';
  const of = (ids: string[]) => ({
    sites: { selection: 'specific', ids },
    updates: { plugins: { selection: 'all' } },
  });
  const failed = await schedule(tools, { schedule: 'daily', started_at, scope: of([failing]) });
  const aborted = await schedule(tools, { schedule: 'daily', started_at, scope: of([rebuilt]) });
  const cancelled = await schedule(tools, { schedule: 'daily', started_at, scope: of([plain]) });
  await time.pass(HOUR + MINUTE);
  const [run] = await runsOf(tools, cancelled);
  await call('POST', `/tasks/${run.task_id}/cancel`);
  await time.pass(HOUR);
  for (const [made, status] of [
    [failed, 'failed'],
    [aborted, 'aborted'],
    [cancelled, 'cancelled'],
  ] as const) {
    const [entry] = await runsOf(tools, made);
    expect(entry.status).toBe(status);
    const { task } = (await call('GET', `/tasks/${entry.task_id}`)).body;
    expect([task.status, task.details.sites[0].status]).toEqual([status, status]);
  }
});
