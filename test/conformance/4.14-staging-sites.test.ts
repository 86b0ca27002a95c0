/** Section 4.14, and the row of section 3 for staging sites. */
import { expect } from 'vitest';
import { withSnapshot } from './fixtures.ts';
import { casesOfFile, DAY, MINUTE, SECOND } from './harness.ts';
import { listCases, moment } from './list-cases.ts';

const { conform, conformHeld } = casesOfFile('4.14 Staging sites');
const list = '/staging-sites';
const inStatus = (status: string) => `${list}?filters[status:eq]=${status}`;

listCases(conform, {
  path: list,
  key: 'staging_sites',
  filters: {
    status: { operators: ['eq'], wrong: 'deleted', try: ['initializing', 'active', 'paused', 'suspended'] },
    site_id: { operators: ['eq'] },
    created_at: moment,
    updated_at: moment,
    expires_at: moment,
  },
  sorts: ['created_at', 'updated_at', 'expires_at', 'php_version'],
  defaultSort: 'created_at,desc',
  timezone: true,
});

conformHeld(
  'creating answers 201 queued, and the copy appears once the task has succeeded',
  async (tools) => {
    const { call, time } = tools;
    const { site, snapshot } = await withSnapshot(tools);
    const staging_site = { site_id: site.id, snapshot_id: snapshot.id, php_version: '8.2' };
    const started = await call('POST', list, { staging_site });
    expect([started.status, started.body.task.status]).toEqual([201, 'queued']);
    const taskPath = `/tasks/${started.body.task.id}`;
    const { task } = (await call('GET', taskPath)).body;
    expect(task).toMatchObject({ type: 'staging', status: 'initializing' });
    expect(task.input.sites[0]).toMatchObject({
      id: site.id,
      site_url: site.url,
      user_configuration: { php_version: '8.2' },
      snapshot_id: snapshot.id,
      snapshot_timestamp: snapshot.created_at,
    });
    const copies = async () =>
      (
        await call(
          'GET',
          `${list}?filters[site_id:eq]=${site.id}&filters[created_at:gte]=2026-11-21T12:00:00Z`,
        )
      ).body.staging_sites;

    await time.pass(4 * MINUTE);
    expect((await call('GET', taskPath)).body.task.status).toBe('running');
    expect(await copies()).toEqual([]);

    await time.pass(3 * SECOND);
    expect((await call('GET', taskPath)).body.task.status).toBe('completed');
    expect(await copies()).toMatchObject([{ site_id: site.id, status: 'initializing', php_version: '8.2' }]);
    await time.pass(2 * MINUTE);
    const [copy] = await copies();
    expect(copy.status).toBe('active');
    const shown = (await call('GET', `${list}/${copy.id}`)).body.staging_site;
    expect(shown.snapshot).toEqual({ id: snapshot.id, created_at: snapshot.created_at });
  },
);

conformHeld('a cancelled task makes no copy', async (tools) => {
  const { call, time } = tools;
  const { site, snapshot } = await withSnapshot(tools);
  const before = (await call('GET', list)).body.meta.pagination.totalItems;
  const { body } = await call('POST', list, { staging_site: { site_id: site.id, snapshot_id: snapshot.id } });
  await call('POST', `/tasks/${body.task.id}/cancel`);
  await time.pass(10 * MINUTE);
  expect((await call('GET', list)).body.meta.pagination.totalItems).toBe(before);
});

conformHeld(
  'a task that fails makes no copy',
  async (tools) => {
    const { call, time } = tools;
    const { site, snapshot } = await withSnapshot(tools);
    const before = (await call('GET', list)).body.meta.pagination.totalItems;
    const { body } = await call('POST', list, {
      staging_site: { site_id: site.id, snapshot_id: snapshot.id },
    });
    await time.pass(10 * MINUTE);
    expect((await call('GET', `/tasks/${body.task.id}`)).body.task.status).toBe('failed');
    expect((await call('GET', list)).body.meta.pagination.totalItems).toBe(before);
  },
  { faults: { 'failing-tasks': 1 } },
);

conformHeld('creating needs a completed snapshot of the live site', async (tools) => {
  const { call, need } = tools;
  const { site, snapshot } = await withSnapshot(tools);
  const create = async (fields: object) =>
    (await call('POST', list, { staging_site: { site_id: site.id, snapshot_id: snapshot.id, ...fields } }))
      .status;
  const { snapshot_id } = (await call('POST', `/sites/${site.id}/sync`)).body.sync;
  const without = await need('/sites?filters[backups:eq]=false');
  expect(await create({ snapshot_id })).toBe(422);
  expect(await create({ site_id: without.id })).toBe(422);
  expect(await create({ php_version: '5.2' })).toBe(422);
  expect(await create({ snapshot_id: 'no-such-snapshot' })).toBe(404);
  expect(await create({ site_id: 'no-such-site' })).toBe(404);
  expect(await create({ color: 'red' })).toBe(400);
  expect((await call('POST', list)).status).toBe(400);
});

conform('real-time events need "until" when they are enabled', async (tools) => {
  const { site, snapshot } = await withSnapshot(tools);
  const options = { real_time_events: { enabled: true } };
  const staging_site = { site_id: site.id, snapshot_id: snapshot.id, options };
  expect((await tools.call('POST', list, { staging_site })).status).toBe(422);
});

conformHeld('real-time events reach no further than the present', async (tools) => {
  const { site, snapshot } = await withSnapshot(tools);
  const options = { real_time_events: { enabled: true, until: '2026-11-21T12:00:01Z' } };
  const staging_site = { site_id: site.id, snapshot_id: snapshot.id, options };
  expect((await tools.call('POST', list, { staging_site })).status).toBe(422);
});

conform('credentials and snapshot are in the single view alone', async ({ call, need }) => {
  const copy = await need(inStatus('active'));
  expect(copy).not.toHaveProperty('credentials');
  expect(copy).not.toHaveProperty('snapshot');
  const { staging_site } = (await call('GET', `${list}/${copy.id}`)).body;
  expect(staging_site).toMatchObject(copy);
  expect(Object.keys(staging_site.credentials)).toEqual(['http_auth', 'server', 'database']);
  expect(staging_site.snapshot.created_at <= copy.created_at).toBe(true);
});

conformHeld('extending lets a copy live longer, within the limit', async ({ call, need }) => {
  const copy = await need(inStatus('active'), ({ id, created_at }) => id && created_at > '2026-11-15');
  const extend = (days: unknown) => call('POST', `${list}/${copy.id}/extend-expiry`, { days });
  const { status, body } = await extend(5);
  expect(status).toBe(200);
  expect(Date.parse(body.staging_site.expires_at)).toBe(Date.parse(copy.expires_at) + 5 * DAY);
  expect(body.staging_site).toHaveProperty('credentials');
  expect((await extend(12)).status).toBe(422);
  expect((await extend(0)).status).toBe(422);
  expect((await extend(1.5)).status).toBe(400);
  expect((await extend('5')).status).toBe(400);
  expect((await extend(11)).status).toBe(200);
  expect((await extend(1)).status).toBe(422);
});

conformHeld(
  '3, 4.14 Staging site: resume makes a paused copy active, and refuses any other',
  async ({ call, need }) => {
    const copy = await need(inStatus('paused'));
    const { status, body } = await call('POST', `${list}/${copy.id}/resume`);
    expect([status, body.staging_site.status]).toEqual([200, 'active']);
    expect((await call('POST', `${list}/${copy.id}/resume`)).status).toBe(422);
    for (const other of ['initializing', 'suspended']) {
      const { id } = await need(inStatus(other));
      expect((await call('POST', `${list}/${id}/resume`)).status).toBe(422);
    }
  },
);

conformHeld(
  '3 Staging site: it is paused when nobody uses it, suspended when it expires, then removed',
  async (tools) => {
    const { call, need, time } = tools;
    const { id, expires_at } = await need(inStatus('active'), ({ created_at }) => created_at > '2026-11-20');
    const status = async () => (await call('GET', `${list}/${id}`)).body.staging_site?.status;
    await call('POST', `${list}/${id}/download`, { download: { scope: { include_files: true } } });
    await time.pass(3 * DAY - 1);
    expect(await status()).toBe('active');
    await time.pass(1);
    expect(await status()).toBe('paused');
    await time.pass(Date.parse(expires_at) - Date.parse('2026-11-24T12:00:00Z') - 1);
    expect(await status()).toBe('paused');
    await time.pass(1);
    expect(await status()).toBe('suspended');
    await time.pass(7 * DAY);
    expect((await call('GET', `${list}/${id}`)).status).toBe(404);
  },
);

conformHeld('an expired copy is active again once it is extended', async ({ call, need }) => {
  const { id } = await need(inStatus('suspended'), ({ created_at }) => created_at > '2026-11-05');
  const { status, body } = await call('POST', `${list}/${id}/extend-expiry`, { days: 3 });
  expect([status, body.staging_site.status]).toEqual([200, 'active']);
  expect(body.staging_site.expires_at).toBe('2026-11-24T12:00:00.000Z');
});

conformHeld('PHP is changed by a task of type configure_staging_site', async (tools) => {
  const { call, need, time } = tools;
  const { id, php_version } = await need(inStatus('active'));
  const change = (version: string) =>
    call('POST', `${list}/${id}/update-php-version`, { staging_site: { php_version: version } });
  const started = await change('8.4');
  expect(started.status).toBe(200);
  expect((await call('GET', `/tasks/${started.body.task.id}`)).body.task.type).toBe('configure_staging_site');
  const phpOf = async () => (await call('GET', `${list}/${id}`)).body.staging_site.php_version;
  expect(await phpOf()).toBe(php_version);
  await time.pass(MINUTE);
  expect(await phpOf()).toBe('8.4');
  expect((await change('4.0')).status).toBe(422);
  expect((await change(' ')).status).toBe(422);
  const paused = await need(inStatus('paused'));
  const body = { staging_site: { php_version: '8.3' } };
  expect((await call('POST', `${list}/${paused.id}/update-php-version`, body)).status).toBe(422);
});

conformHeld('a download is a task of type download_staging', async ({ call, need }) => {
  const { id } = await need(inStatus('active'));
  const start = (scope: object) => call('POST', `${list}/${id}/download`, { download: { scope } });
  const started = await start({ include_files: true, include_database: false });
  expect(started.status).toBe(200);
  expect((await call('GET', `/tasks/${started.body.task.id}`)).body.task.type).toBe('download_staging');
  expect((await start({ include_files: false })).status).toBe(422);
  expect((await start({ include_files: 'yes' })).status).toBe(400);
  const suspended = await need(inStatus('suspended'));
  const body = { download: { scope: { include_files: true } } };
  expect((await call('POST', `${list}/${suspended.id}/download`, body)).status).toBe(422);
});

conform('a sign-in address is made for the default user or the one that is given', async (tools) => {
  const { id, url } = await tools.need(inStatus('active'));
  const signIn = (query: string) => tools.call('GET', `${list}/${id}/wp/users/sso-login-url${query}`);
  const byDefault = await signIn('');
  expect(byDefault.status).toBe(200);
  expect(new URL(byDefault.body.url).host).toBe(new URL(url).host);
  expect((await signIn('?wp_object_id=')).status).toBe(200);
  expect((await signIn('?wp_object_id=2')).body.url).not.toBe(byDefault.body.url);
  expect((await signIn('?wp_object_id=admin')).status).toBe(400);
  expect((await signIn('?user=1')).status).toBe(400);
  const paused = await tools.need(inStatus('paused'));
  expect((await tools.call('GET', `${list}/${paused.id}/wp/users/sso-login-url`)).status).toBe(422);
});

conformHeld('nobody is signed in as a user that is not there', async ({ call, need }) => {
  const { id } = await need(inStatus('active'));
  const signIn = (user: number) => call('GET', `${list}/${id}/wp/users/sso-login-url?wp_object_id=${user}`);
  expect((await signIn(20)).body.url).toContain('user_id=20');
  for (const user of [0, 21]) expect((await signIn(user)).status).toBe(404);
});

conformHeld('deleting answers 204, but not while a copy is being made', async ({ call, need }) => {
  const { id } = await need(inStatus('suspended'));
  expect((await call('DELETE', `${list}/${id}`)).status).toBe(204);
  expect((await call('GET', `${list}/${id}`)).status).toBe(404);
  const young = await need(inStatus('initializing'));
  expect((await call('DELETE', `${list}/${young.id}`)).status).toBe(422);
});
