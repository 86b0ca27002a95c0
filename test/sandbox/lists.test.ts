import { describe, expect, test } from 'vitest';
import { startCalling } from './calling.ts';

describe('a list', () => {
  test('has pages that together contain every item once', async () => {
    const { sandbox, get, ids } = await startCalling({ sites: 25 });

    const first = await get('/sites?perPage=10');
    const all = [
      ...(await ids('/sites?perPage=10')),
      ...(await ids('/sites?perPage=10&page=2')),
      ...(await ids('/sites?perPage=10&page=3')),
    ];

    expect(first.body.meta.pagination).toEqual({ page: 1, perPage: 10, totalPages: 3, totalItems: 25 });
    expect([...all].sort()).toEqual([...sandbox.siteIds()].sort());
    expect(await ids('/sites?perPage=10&page=4')).toEqual([]);
  });

  test('has a hundred items per page by default', async () => {
    const { get } = await startCalling({ sites: 130 });
    const { body } = await get('/sites');
    expect(body.sites).toHaveLength(100);
    expect(body.meta.pagination).toMatchObject({ page: 1, perPage: 100, totalPages: 2 });
  });

  test('shows the newest first by default, and sorts in both directions', async () => {
    const { sandbox, ids, get } = await startCalling({ sites: 12 });
    expect(await ids('/sites')).toEqual([...sandbox.siteIds()].reverse());
    expect(await ids('/sites?sort=created_at,asc')).toEqual(sandbox.siteIds());

    const urls = (await get('/sites?sort=url,desc')).body.sites.map((site: { url: string }) => site.url);
    expect(urls).toEqual([...urls].sort().reverse());
  });

  test('keeps equal items in order of creation, in both directions', async () => {
    const { clock, post, ids } = await startCalling({ sites: 0 });
    const made: string[] = [];
    for (const name of ['one', 'two', 'three']) {
      made.push((await post('/tags', { tag: { name, color: '#123456' } })).body.tag.id);
      await clock.advance(1000);
    }
    const here = (all: string[]) => all.filter((id) => made.includes(id));
    expect(here(await ids('/tags?sort=color,asc'))).toEqual(made);
    expect(here(await ids('/tags?sort=color,desc'))).toEqual(made);
  });

  test('puts items without a value last in both directions', async () => {
    const { get } = await startCalling({ sites: 60 });
    for (const direction of ['asc', 'desc']) {
      const { body } = await get(`/sites?sort=last_sync_at,${direction}`);
      const moments = body.sites.map((site: { sync: { last_sync_at: unknown } }) => site.sync.last_sync_at);
      expect(moments.filter((moment: unknown) => moment === null).length).toBe(2);
      expect(moments.slice(-2)).toEqual([null, null]);
    }
  });
});

describe('a filter', () => {
  test('takes booleans, enums and ids, and several filters must all hold', async () => {
    const { get } = await startCalling();
    const connected = await get('/sites?filters[connection_status:eq]=connected');
    const both = await get('/sites?filters[connection_status:eq]=connected&filters[locked:eq]=true');
    const one = await get('/sites?filters[id:eq]=site-0007');

    expect(connected.body.meta.pagination.totalItems).toBe(57);
    expect(both.body.meta.pagination.totalItems).toBe(2);
    expect(both.body.sites.every((site: { locked: boolean }) => site.locked)).toBe(true);
    expect(one.body.sites.map((site: { id: string }) => site.id)).toEqual(['site-0007']);
  });

  test('finds a part of a string, case-insensitively', async () => {
    const { post, ids } = await startCalling({ sites: 3 });
    const { id } = (await post('/sites', { site: { url: 'https://crumbs.example' } })).body.site;
    expect(await ids('/sites?filters[url:contains]=CRUMB')).toEqual([id]);
  });

  test('with "in" matches one of several values, written as an array', async () => {
    const { get } = await startCalling();
    const { body } = await get('/sites?filters[tags:in][]=11&filters[tags:in][]=12');
    expect(body.sites.length).toBeGreaterThan(0);
    for (const { tags } of body.sites) {
      expect(tags.some(({ id }: { id: string }) => id === '11' || id === '12')).toBe(true);
    }
    const none = await get('/sites?filters[tags:in][]=999');
    expect(none.body.sites).toEqual([]);
  });

  test('compares versions part by part, to the precision of the filter', async () => {
    const { get } = await startCalling();
    const versions = async (filter: string) =>
      (await get(`/sites?filters[php_version:${filter}`)).body.sites.map(
        (site: { server: { php_version: string } }) => site.server.php_version,
      );
    const all = await versions('gt]=5');
    expect(all).toHaveLength(60);

    const below = await versions('lt]=8.1');
    expect(below).toHaveLength(6);
    expect(below.every((version: string) => /^(7\.|8\.0\.)/.test(version))).toBe(true);
    expect(await versions('eq]=7.4')).toEqual(all.filter((version: string) => version.startsWith('7.4.')));
    expect(await versions('gt]=8.3.9')).toEqual(all.filter((version: string) => version.startsWith('8.3.')));
    expect(await versions('gt]=8.3')).toEqual([]);
  });

  test('by time accepts timestamps, local times and days in the given timezone', async () => {
    const { clock, post, ids } = await startCalling({ sites: 0, startsAt: '2026-11-20T23:30:00Z' });
    const { id } = (await post('/sites', { site: { url: 'https://late.example' } })).body.site;
    await clock.advance(1000);
    const has = async (filter: string) => (await ids(`/sites?filters[created_at:${filter}`)).includes(id);

    expect(await has('gte]=2026-11-20T23:30:00Z')).toBe(true);
    expect(await has('gte]=2026-11-20T23:30:00.001Z')).toBe(false);
    expect(await has('lte]=2026-11-21T00:30:00%2B01:00')).toBe(true);
    // Half past eleven in London is half past midnight of the next day in Berlin.
    expect(await has('gte]=2026-11-21')).toBe(false);
    expect(await has('gte]=2026-11-21&timezone=Europe/Berlin')).toBe(true);
    expect(await has('lte]=2026-11-20')).toBe(true);
    expect(await has('lte]=2026-11-20&timezone=Europe/Berlin')).toBe(false);
    expect(await has('gte]=2026-11-21T00:30:00&timezone=Europe/Berlin')).toBe(true);
    expect(await has('gte]=2026-11-21T00:30:01&timezone=Europe/Berlin')).toBe(false);
  });

  test('interprets only created_at in the timezone, except for sites', async () => {
    const { post, ids } = await startCalling({ sites: 0, startsAt: '2026-11-20T23:30:00Z' });
    const { id } = (await post('/tags', { tag: { name: 'late' } })).body.tag;
    const has = async (filter: string) =>
      (await ids(`/tags?timezone=Europe/Berlin&filters[${filter}`)).includes(id);
    expect(await has('created_at:gte]=2026-11-21')).toBe(true);
    expect(await has('updated_at:gte]=2026-11-21')).toBe(false);
  });
});

describe('a query that the list does not take is refused with 400, never ignored:', () => {
  test.each([
    ['an unknown filter', '/sites?filters[colour:eq]=red'],
    ['a filter named like a part of every object', '/sites?filters[constructor:eq]=1'],
    ['a filter named like the parent of every object', '/sites?filters[__proto__:eq]=1'],
    ['an operator the field does not have', '/sites?filters[url:eq]=https://a.example'],
    ['a value outside the list', '/sites?filters[connection_status:eq]=asleep'],
    ['a boolean that is none', '/sites?filters[locked:eq]=yes'],
    ['a moment that is none', '/sites?filters[created_at:gte]=yesterday'],
    ['a version that is none', '/sites?filters[php_version:gt]=eight'],
    ['"in" without array syntax', '/sites?filters[tags:in]=12'],
    ['array syntax without "in"', '/sites?filters[id:eq][]=site-0001'],
    ['a filter without an operator', '/sites?filters[locked]=true'],
    ['a filter given twice', '/sites?filters[locked:eq]=true&filters[locked:eq]=false'],
    ['an unknown sort', '/sites?sort=title,asc'],
    ['a sort without direction', '/sites?sort=url'],
    ['a sort in an unknown direction', '/sites?sort=url,up'],
    ['page zero', '/sites?page=0'],
    ['a page that is not a number', '/sites?page=two'],
    ['more than a hundred a page', '/sites?perPage=101'],
    ['an unknown timezone', '/sites?timezone=Mars/Olympus'],
    ['a timezone where none is taken', '/sites/site-0001/snapshots?timezone=UTC'],
    ['an unknown parameter', '/sites?limit=5'],
    ['a parameter given twice', '/sites?page=1&page=2'],
  ])('%s', async (_what, path) => {
    const { get } = await startCalling({ sites: 3 });
    const { status, body } = await get(path);
    expect({ status, code: body.error.code }).toEqual({ status: 400, code: 'bad_request' });
    expect(body.error.message).not.toBe('');
  });
});
