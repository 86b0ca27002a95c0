/** Section 4.1: what all lists share. The filters and sorts of each list are tested in its own section. */
import { expect } from 'vitest';
import { casesOfFile } from './harness.ts';

const { conform } = casesOfFile('4.1 Lists');
conform('pages cut the list without gap or overlap; one beyond the last is empty', async ({ call }) => {
  const whole = (await call('GET', '/sites?sort=created_at,asc')).body;
  const ids = ({ sites }: { sites: { id: string }[] }) => sites.map(({ id }) => id);
  const perPage = 7;
  const pages: string[] = [];
  for (let page = 1; page <= Math.ceil(whole.sites.length / perPage); page += 1) {
    const { body } = await call('GET', `/sites?sort=created_at,asc&perPage=${perPage}&page=${page}`);
    pages.push(...ids(body));
  }
  expect(pages.slice(0, whole.sites.length)).toEqual(ids(whole));
  const { totalPages } = whole.meta.pagination;
  expect((await call('GET', `/sites?page=${totalPages + 1}`)).body.sites).toEqual([]);
  expect((await call('GET', '/sites?perPage=100')).status).toBe(200);
});

conform('in takes array syntax, repeated', async ({ call }) => {
  const [first, second] = (await call('GET', '/tags?sort=created_at,asc')).body.tags.filter(
    ({ site_ids }: { site_ids: string[] }) => site_ids.length > 0,
  );
  const found = async (query: string) => {
    const { status, body } = await call('GET', `/sites?${query}`);
    expect([query, status]).toEqual([query, 200]);
    return body.sites.map(({ id }: { id: string }) => id).sort();
  };
  const one = `filters[tags:in][]=${first.id}`;
  expect(await found(one)).toEqual([...first.site_ids].sort());
  const both = [...new Set([...first.site_ids, ...second.site_ids])].sort();
  expect(await found(`${one}&filters[tags:in][]=${second.id}`)).toEqual(both);
  expect((await call('GET', `/sites?filters[tags:in]=${first.id}`)).status).toBe(400);
  expect((await call('GET', `/sites?filters[id:eq][]=${first.site_ids[0]}`)).status).toBe(400);
});

conform('several filters must all hold', async ({ call }) => {
  const { sites } = (await call('GET', '/sites')).body;
  const query = 'filters[connection_status:eq]=connected&filters[backups:eq]=true';
  const found = (await call('GET', `/sites?${query}`)).body.sites;
  type Site = { connection: { status: string }; backups: { enabled: boolean } };
  expect(found).toEqual(
    sites.filter(({ connection, backups }: Site) => connection.status === 'connected' && backups.enabled),
  );
});

conform('booleans are true or false, timestamps ISO 8601, and nothing else (400)', async ({ call }) => {
  for (const query of [
    'filters[paused:eq]=1',
    'filters[paused:eq]=yes',
    'filters[paused:eq]=TRUE',
    'filters[paused:eq]=',
    'filters[created_at:gte]=yesterday',
    'filters[created_at:gte]=21.11.2026',
    'filters[created_at:gte]=1700000000',
    'filters[created_at:gte]=2026-13-01T00:00:00Z',
  ]) {
    expect([query, (await call('GET', `/sites?${query}`)).status]).toEqual([query, 400]);
  }
});

conform('the timezone interprets created_at filters, UTC by default', async ({ call, need }) => {
  const { created_at } = await need('/tags');
  // The same time on clocks nine hours ahead.
  const local = (ms: number) => new Date(Date.parse(created_at) + ms).toISOString().slice(0, 19);
  const hours = 3_600_000;
  const found = async (query: string) =>
    (await call('GET', `/tags?${query}`)).body.tags.map((tag: { created_at: string }) => tag.created_at);
  const tokyo = `timezone=Asia/Tokyo&filters[created_at:gte]=${local(9 * hours)}`;
  expect(await found(tokyo)).toContain(created_at);
  expect(await found(`timezone=Asia/Tokyo&filters[created_at:gte]=${local(9 * hours + 1000)}`)).not.toContain(
    created_at,
  );
  expect(await found(`filters[created_at:gte]=${local(0)}`)).toContain(created_at);
  expect(await found(`filters[created_at:gte]=${local(1000)}`)).not.toContain(created_at);
});

conform('for the site list the timezone also interprets updated_at and last_sync_at', async (tools) => {
  const site = await tools.need('/sites', ({ sync }) => sync.last_sync_at !== null);
  const hours = 3_600_000;
  for (const [field, at] of [
    ['updated_at', site.updated_at],
    ['last_sync_at', site.sync.last_sync_at],
  ] as const) {
    const bound = new Date(Date.parse(at) + 9 * hours).toISOString().slice(0, 19);
    const query = `filters[id:eq]=${site.id}&filters[${field}:gte]=${bound}`;
    const count = async (zone: string) =>
      (await tools.call('GET', `/sites?${query}&timezone=${zone}`)).body.sites.length;
    expect([field, await count('Asia/Tokyo'), await count('UTC')]).toEqual([field, 1, 0]);
  }
});
