/** Section 4.7, without what happens in time (4.07-auto-update-runs), and the schedule rows of section 3. */
import { expect } from 'vitest';
import { farAway, unused } from './fixtures.ts';
import { casesOfFile, type Tools } from './harness.ts';
import { flag, listCases, moment } from './list-cases.ts';

const { conform, conformHeld } = casesOfFile('4.7 Auto update schedules');
const updateTypes = ({ scope: { updates } }: { scope: { updates: Record<string, unknown> } }) => [
  ...(updates['wordpress_core'] ? ['core'] : []),
  ...(updates['plugins'] ? ['plugin'] : []),
  ...(updates['themes'] ? ['theme'] : []),
];

listCases(conform, {
  path: '/auto-update-schedules',
  key: 'auto_update_schedules',
  filters: {
    name: { operators: ['contains'] },
    status: { operators: ['eq', 'in'], wrong: 'stopped', try: ['active', 'paused'] },
    schedule: { operators: ['eq', 'in'], wrong: 'yearly' },
    has_backup: flag(({ options }) => options.backup),
    has_vr: flag(({ options }) => options.visual_regression),
    update_types: {
      operators: ['in'],
      wrong: 'plugins',
      try: ['plugin', 'theme', 'core'],
      read: updateTypes,
    },
    started_at: moment,
    next_update_at: moment,
    created_at: moment,
    updated_at: moment,
  },
  sorts: ['created_at', 'updated_at', 'name', 'status', 'schedule', 'started_at', 'next_update_at'],
  defaultSort: 'created_at,desc',
  timezone: true,
});

conform('the list takes site_id (in)', async ({ call, need }) => {
  const specific = await need('/auto-update-schedules', ({ scope }) => scope.sites.selection === 'specific');
  const [site] = specific.scope.sites.ids;
  const { body } = await call('GET', `/auto-update-schedules?filters[site_id:in][]=${site}`);
  const all = (await call('GET', '/auto-update-schedules')).body.auto_update_schedules;
  type Shown = { id: string; scope: { sites: { selection: string; ids?: string[] } } };
  const expected = all.filter(
    ({ scope: { sites } }: Shown) => sites.selection === 'all' || sites.ids?.includes(site),
  );
  expect(body.auto_update_schedules).toEqual(expected);
  for (const operator of ['eq', 'contains', 'gte']) {
    const refused = await call('GET', `/auto-update-schedules?filters[site_id:${operator}]=${site}`);
    expect(refused.status).toBe(400);
  }
});

const plugins = { selection: 'all' } as const;

async function makeSchedule({ call, cleanUp }: Tools, fields: object = {}) {
  const auto_update_schedule = {
    name: unused('schedule'),
    schedule: 'daily',
    started_at: farAway,
    scope: { sites: { selection: 'all' }, updates: { wordpress_core: false, plugins } },
    ...fields,
  };
  const { status, body } = await call('POST', '/auto-update-schedules', { auto_update_schedule });
  expect([status, body.error]).toEqual([201, undefined]);
  cleanUp('DELETE', `/auto-update-schedules/${body.auto_update_schedule.id}`);
  return body.auto_update_schedule;
}

conform('createAutoUpdateSchedule answers 201, active, as submitted', async (tools) => {
  const site = await tools.need('/sites');
  const fields = {
    name: unused('schedule'),
    schedule: 'monthly_on_date',
    started_at: farAway,
    scope: {
      sites: { selection: 'specific', ids: [site.id] },
      updates: {
        wordpress_core: true,
        plugins: { selection: 'specific', filenames: ['a/a.php'] },
        themes: { selection: 'all', filenames: [] },
      },
    },
  };
  const made = await makeSchedule(tools, fields);
  expect(made).toMatchObject({ status: 'active', ...fields, started_at: expect.any(String) });
  // One that starts in the future is first due then.
  for (const at of [made.started_at, made.next_update_at])
    expect(Date.parse(at)).toBe(Date.parse(fields.started_at));
  const { body } = await tools.call('GET', `/auto-update-schedules/${made.id}`);
  expect(body.auto_update_schedule).toEqual(made);
});

conform('for all, filenames may be omitted and are empty; there are no ids of sites', async (tools) => {
  const themes = { selection: 'all' };
  const { scope } = await makeSchedule(tools, { scope: { updates: { plugins, themes } } });
  expect(scope.sites).toEqual({ selection: 'all' });
  expect(scope.updates.plugins).toEqual({ selection: 'all', filenames: [] });
  expect(scope.updates.themes).toEqual({ selection: 'all', filenames: [] });
});

conform('submitted sites must be available to the caller (422)', async (tools) => {
  const made = await makeSchedule(tools);
  const scope = {
    sites: { selection: 'specific', ids: ['nothing-has-this-id'] },
    updates: { wordpress_core: true },
  };
  const fields = { name: unused('x'), schedule: 'daily', started_at: farAway, scope };
  const create = await tools.call('POST', '/auto-update-schedules', { auto_update_schedule: fields });
  expect(create.status).toBe(422);
  const path = `/auto-update-schedules/${made.id}/update`;
  expect((await tools.call('POST', path, { auto_update_schedule: { scope } })).status).toBe(422);
});

conform('create and update need a body (400) with known values', async (tools) => {
  const made = await makeSchedule(tools);
  for (const path of ['/auto-update-schedules', `/auto-update-schedules/${made.id}/update`]) {
    expect((await tools.call('POST', path)).status).toBe(400);
    const yearly = { name: 'x', schedule: 'yearly', started_at: farAway, scope: {} };
    const { status } = await tools.call('POST', path, { auto_update_schedule: yearly });
    expect([400, 422]).toContain(status);
  }
  const missing = await tools.call('POST', '/auto-update-schedules', { auto_update_schedule: { name: 'x' } });
  expect([400, 422]).toContain(missing.status);
});

for (const [option, feature] of [
  ['backup', 'update_backup'],
  ['visual_regression', 'visual_regression'],
] as const) {
  conformHeld(
    `options.${option} needs the matching plan feature (422)`,
    async (tools) => {
      const made = await makeSchedule(tools);
      const options = { [option]: true };
      const path = `/auto-update-schedules/${made.id}/update`;
      expect((await tools.call('POST', path, { auto_update_schedule: { options } })).status).toBe(422);
      const scope = { updates: { plugins } };
      const fields = { name: unused('x'), schedule: 'daily', started_at: farAway, scope, options };
      const { status } = await tools.call('POST', '/auto-update-schedules', { auto_update_schedule: fields });
      expect(status).toBe(422);
      expect(
        (await tools.call('GET', `/auto-update-schedules/${made.id}`)).body.auto_update_schedule,
      ).toEqual(made);
    },
    { planLacks: [feature] },
  );
}

conformHeld('options are kept where the plan has them', async (tools) => {
  const options = { backup: true, visual_regression: true };
  expect((await makeSchedule(tools, { options })).options).toEqual(options);
  expect((await makeSchedule(tools)).options).toEqual({ backup: false, visual_regression: false });
});

conform('in an update, omitted fields remain unchanged', async (tools) => {
  const made = await makeSchedule(tools);
  const path = `/auto-update-schedules/${made.id}/update`;
  const name = unused('renamed');
  const { status, body } = await tools.call('POST', path, { auto_update_schedule: { name } });
  const { updated_at } = body.auto_update_schedule;
  expect([status, body.auto_update_schedule]).toEqual([200, { ...made, name, updated_at }]);
  expect((await tools.call('GET', `/auto-update-schedules/${made.id}`)).body).toEqual(body);
});

conform('scope.updates that is sent is the complete desired set', async (tools) => {
  const site = await tools.need('/sites');
  const made = await makeSchedule(tools, {
    scope: {
      sites: { selection: 'specific', ids: [site.id] },
      updates: { wordpress_core: true, plugins, themes: plugins },
    },
  });
  const path = `/auto-update-schedules/${made.id}/update`;
  const scope = { updates: { themes: { selection: 'all' } } };
  const { body } = await tools.call('POST', path, { auto_update_schedule: { scope } });
  const { sites, updates } = body.auto_update_schedule.scope;
  expect(sites).toEqual(made.scope.sites);
  expect(updates.wordpress_core).toBe(false);
  expect(updates.plugins ?? null).toBeNull();
  expect(updates.themes).toEqual({ selection: 'all', filenames: [] });
});

conform('status changes only through enable and disable', async (tools) => {
  const made = await makeSchedule(tools);
  const path = `/auto-update-schedules/${made.id}`;
  const sent = { auto_update_schedule: { status: 'paused' } };
  expect((await tools.call('POST', `${path}/update`, sent)).status).toBe(400);
  expect((await tools.call('GET', path)).body.auto_update_schedule).toEqual(made);

  const paused = await tools.call('POST', `${path}/disable`);
  expect([paused.status, paused.body.auto_update_schedule.status]).toEqual([200, 'paused']);
  expect((await tools.call('GET', path)).body).toEqual(paused.body);
  const active = await tools.call('POST', `${path}/enable`);
  expect([active.status, active.body.auto_update_schedule.status]).toEqual([200, 'active']);
  expect((await tools.call('GET', path)).body).toEqual(active.body);
});

conform('deleteAutoUpdateSchedule answers 204 and it is gone', async (tools) => {
  const path = `/auto-update-schedules/${(await makeSchedule(tools)).id}`;
  expect((await tools.call('DELETE', path)).status).toBe(204);
  expect((await tools.call('GET', path)).status).toBe(404);
  expect((await tools.call('DELETE', path)).status).toBe(404);
});
