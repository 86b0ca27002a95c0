/** Section 4.18. */
import { expect } from 'vitest';
import { casesOfFile, MINUTE } from './harness.ts';
import { listCases, moment } from './list-cases.ts';

const { conform, conformHeld } = casesOfFile('4.18 Activity logs');
const isLogged = ({ activity_logs }: { activity_logs: { enabled: boolean } }) => activity_logs.enabled;
const isSilent = (site: { activity_logs: { enabled: boolean } }) => !isLogged(site);

listCases(conform, {
  path: async ({ need }) => `/sites/${(await need('/sites', isLogged)).id}/activity-logs`,
  key: 'activity_logs',
  filters: {
    timestamp: moment,
    username: { operators: ['eq', 'contains'] },
    ip_address: { operators: ['eq', 'contains'] },
    object_type: { operators: ['eq'], wrong: 'spaceship', try: ['user', 'plugin'] },
    event_type: { operators: ['eq'], wrong: 'exploded', try: ['login', 'updated'] },
    search: {
      operators: ['contains'],
      read: (item) => [
        item.username,
        item.ip_address,
        item.object_type,
        item.event_type,
        ...Object.values(item.event_details).map(String),
      ],
      try: ['_LOGIN', 'xConta'],
    },
  },
  sorts: ['timestamp', 'object_type', 'event_type', 'username', 'ip_address'],
  defaultSort: 'timestamp,desc',
  timezone: false,
});

conform('the list needs activity logging to be enabled', async ({ call, need }) => {
  const site = await need('/sites', isSilent);
  expect((await call('GET', `/sites/${site.id}/activity-logs`)).status).toBe(422);
});

conform('the list runs from the creation of the site until now', async ({ call, need }) => {
  const site = await need('/sites', isLogged);
  const { activity_logs } = (await call('GET', `/sites/${site.id}/activity-logs?sort=timestamp,asc`)).body;
  expect(activity_logs[0].timestamp >= site.created_at).toBe(true);
});

conformHeld('enabling and disabling answer the state, which the site shows', async (tools) => {
  const { call, need, time } = tools;
  const { id } = await need('/sites', isSilent);
  for (const [act, enabled] of [
    ['enable', true],
    ['enable', true],
    ['disable', false],
  ] as const) {
    const { status, body } = await call('POST', `/sites/${id}/activity-logs/${act}`);
    expect([status, body]).toEqual([200, { activity_logs: { enabled } }]);
    expect((await call('GET', `/sites/${id}`)).body.site.activity_logs.enabled).toBe(enabled);
    expect((await call('GET', `/sites/${id}/activity-logs`)).status).toBe(enabled ? 200 : 422);
    await time.pass(MINUTE);
  }
});

conformHeld('409 while another change of the configuration is in progress', async (tools) => {
  const { call, need, time } = tools;
  const { id } = await need('/sites', isLogged);
  expect((await call('POST', `/sites/${id}/activity-logs/disable`)).status).toBe(200);
  expect((await call('POST', `/sites/${id}/activity-logs/enable`)).status).toBe(409);
  expect((await call('GET', `/sites/${id}`)).body.site.activity_logs.enabled).toBe(false);
  await time.pass(MINUTE);
  expect((await call('POST', `/sites/${id}/activity-logs/enable`)).status).toBe(200);
  expect((await call('POST', `/sites/${id}/activity-logs/disable`)).status).toBe(409);
});

conformHeld('what callers do to the site is among its events, while it is logged', async (tools) => {
  const { call, need } = tools;
  const logged = await need('/sites?filters[connection_status:eq]=connected', isLogged);
  const silent = await need('/sites', isSilent);
  const site = { sync: { daily_sync_time: '05:55Z' } };
  for (const { id } of [logged, silent]) await call('POST', `/sites/${id}/update`, { site });
  const [latest] = (await call('GET', `/sites/${logged.id}/activity-logs`)).body.activity_logs;
  expect(latest).toMatchObject({
    object_type: 'site',
    event_type: 'changed',
    timestamp: '2026-11-21T12:00:00.000Z',
  });
  await call('POST', `/sites/${silent.id}/activity-logs/enable`);
  const { activity_logs } = (await call('GET', `/sites/${silent.id}/activity-logs`)).body;
  expect(activity_logs).toHaveLength(1);
});
