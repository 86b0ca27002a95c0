/** Section 4.15, and the rows of section 3 for site syncs and connections. */
import { expect } from 'vitest';
import { unused } from './fixtures.ts';
import { casesOfFile, MINUTE, type Tools } from './harness.ts';
import { flag, listCases, moment } from './list-cases.ts';

const { conform, conformHeld } = casesOfFile('4.15 Sites');
const freshUrl = () => `https://${unused('case')}.example`;

listCases(conform, {
  path: '/sites',
  key: 'sites',
  filters: {
    id: { operators: ['eq'] },
    paused: flag(({ sync }) => sync.paused),
    security: flag((item) => item.security.enabled),
    backups: flag((item) => item.backups.enabled),
    performance: flag((item) => item.performance.enabled),
    connection_status: {
      operators: ['eq'],
      read: (item) => item.connection.status,
      wrong: 'lost',
      try: ['connected', 'disconnected'],
    },
    client_id: { operators: ['eq'], read: ({ client }) => client?.id ?? null },
    uptime: flag((item) => item.uptime.enabled),
    scanner_status: {
      operators: ['eq'],
      read: (item) => item.security.scanner.status,
      wrong: 'dirty',
      try: ['clean', 'hacked'],
    },
    locked: flag(({ locked }) => locked),
    url: { operators: ['contains'] },
    created_at: moment,
    updated_at: moment,
    last_sync_at: { ...moment, read: ({ sync }) => sync.last_sync_at },
    tags: {
      operators: ['in'],
      read: ({ tags }) => tags.map(({ id }: { id: string }) => id),
      try: ['11', '12'],
    },
  },
  sorts: ['created_at', 'updated_at', 'url'],
  defaultSort: 'created_at,desc',
  timezone: true,
});

conform('php_version takes eq, gt and lt with major, major.minor or major.minor.patch', async (tools) => {
  const phpOf = async (filter: string): Promise<string[]> => {
    const { status, body } = await tools.call('GET', `/sites?filters[php_version:${filter}`);
    expect([filter, status]).toEqual([filter, 200]);
    return body.sites.map(({ server }: { server: { php_version: string } }) => server.php_version);
  };
  const all = (await phpOf('gt]=0')).length;
  for (const version of await phpOf('eq]=8')) expect(version).toMatch(/^8\./);
  for (const version of await phpOf('eq]=8.1')) expect(version).toMatch(/^8\.1\./);
  const [exact = ''] = await phpOf('gt]=0');
  expect(new Set(await phpOf(`eq]=${exact}`))).toEqual(new Set([exact]));
  for (const version of await phpOf('lt]=8.1')) expect(Number.parseFloat(version)).toBeLessThan(8.1);
  const parts = await Promise.all(['lt]=8.1', 'eq]=8.1', 'gt]=8.1'].map(phpOf));
  expect(parts.flat()).toHaveLength(all);
  for (const wrong of ['eq]=8.x', 'gt]=8.1.2.3', 'gte]=8', 'eq]=']) {
    expect((await tools.call('GET', `/sites?filters[php_version:${wrong}`)).status).toBe(400);
  }
});

conform('the list sorts by last_sync_at, sites that were never synced last', async ({ call }) => {
  for (const direction of ['asc', 'desc']) {
    const { sites } = (await call('GET', `/sites?sort=last_sync_at,${direction}`)).body;
    const moments = sites.map(({ sync }: { sync: { last_sync_at: string | null } }) => sync.last_sync_at);
    const synced = moments.filter((at: string | null) => at !== null).sort();
    if (direction === 'desc') synced.reverse();
    expect(moments.slice(0, synced.length)).toEqual(synced);
  }
});

/** A site of our own, removed when the case ends. */
async function register({ call, cleanUp }: Tools, connection?: object) {
  const { status, body } = await call('POST', '/sites', {
    site: { url: freshUrl(), ...(connection && { connection }) },
  });
  expect(status).toBe(201);
  cleanUp('DELETE', `/sites/${body.site.id}`);
  return body.site;
}

conform('creating answers 201 with the reduced view, disconnected', async (tools) => {
  const site = await register(tools);
  expect(Object.keys(site).sort()).toEqual(['connection', 'created_at', 'id', 'updated_at', 'url']);
  expect(site.connection).toEqual({ status: 'disconnected' });
});

conformHeld('3 Site connection: a new site is connected after five minutes', async (tools) => {
  const { id } = await register(tools);
  const statusOf = async () => (await tools.call('GET', `/sites/${id}`)).body.site.connection.status;
  await tools.time.pass(5 * MINUTE - 1);
  expect(await statusOf()).toBe('disconnected');
  await tools.time.pass(1);
  expect(await statusOf()).toBe('connected');
  expect((await tools.call('POST', `/sites/${id}/sync`)).status).toBe(200);
});

conform('sticky IP and HTTP credentials are in the single view, when configured', async (tools) => {
  const connection = { sticky_ip: '192.0.2.7', http_auth: { username: 'a', password: 'b' } };
  const { id } = await register(tools, connection);
  const shown = async () => (await tools.call('GET', `/sites/${id}`)).body.site.connection;
  expect(await shown()).toMatchObject(connection);
  const listed = await tools.need('/sites', (site) => site.id === id);
  expect(Object.keys(listed.connection)).toEqual(['status']);
  const clear = (cleared: object) =>
    tools.call('POST', `/sites/${id}/update`, { site: { connection: cleared } });
  await clear({ http_auth: null });
  expect(Object.keys(await shown())).toEqual(['status', 'sticky_ip']);
  await clear({ sticky_ip: null });
  expect(Object.keys(await shown())).toEqual(['status']);
});

conform('an update answers the reduced view with the daily sync time', async (tools) => {
  const { id } = await register(tools);
  const url = freshUrl();
  const { status, body } = await tools.call('POST', `/sites/${id}/update`, {
    site: { url, sync: { daily_sync_time: '04:30Z' } },
  });
  expect(status).toBe(200);
  expect(body.site).toMatchObject({ id, url, sync: { daily_sync_time: '04:30Z' } });
  expect((await tools.call('GET', `/sites/${id}`)).body.site.sync.daily_sync_time).toBe('04:30Z');
});

conform('wrong fields are refused', async (tools) => {
  const { id, url } = await register(tools);
  const create = async (site: object) => (await tools.call('POST', '/sites', { site })).status;
  expect(await create({ url })).toBe(422);
  expect(await create({ url: 'not an address' })).toBe(422);
  expect(await create({})).toBe(400);
  expect(await create({ url: freshUrl(), plan: 'big' })).toBe(400);
  expect((await tools.call('POST', '/sites')).status).toBe(400);
  const update = async (site: object) => (await tools.call('POST', `/sites/${id}/update`, { site })).status;
  const other = await register(tools);
  expect(await update({ url: other.url })).toBe(422);
  expect(await update({ url: 'ftp://a.example' })).toBe(422);
  expect(await update({ sync: { daily_sync_time: '25:00Z' } })).toBe(422);
  expect(await update({ sync: { daily_sync_time: '04:30' } })).toBe(422);
  expect(await update({ title: 'x' })).toBe(400);
  expect((await tools.call('POST', `/sites/${id}/sync`, { sync: { force: true } })).status).toBe(400);
});

conform('deleting answers 204', async (tools) => {
  const { id } = await register(tools);
  expect((await tools.call('DELETE', `/sites/${id}`)).status).toBe(204);
  expect((await tools.call('GET', `/sites/${id}`)).status).toBe(404);
});

conformHeld('4.15 Enable site backups: 200 with the state, 422 where the plan has none', async ({ call }) => {
  const off = (await call('GET', '/sites?filters[backups:eq]=false')).body.sites;
  const statuses: number[] = [];
  for (const { id } of off) statuses.push((await call('POST', `/sites/${id}/backups/enable`)).status);
  expect(statuses.sort()).toEqual([200, 200, 422]);
  expect((await call('GET', '/sites?filters[backups:eq]=false')).body.sites).toHaveLength(1);
});
