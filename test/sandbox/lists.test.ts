import { describe, expect, test } from 'vitest';
import { startCalling } from './calling.ts';

describe('a list', () => {
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
});

describe('a filter', () => {
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

test('a query that the list does not take is refused with 400, never ignored', async () => {
  const { get } = await startCalling({ sites: 3 });
  for (const [what, path = ''] of [
    ['a filter named like a part of every object', '/sites?filters[constructor:eq]=1'],
    ['a filter named like the parent of every object', '/sites?filters[__proto__:eq]=1'],
    ['a filter without an operator', '/sites?filters[locked]=true'],
    ['a filter given twice', '/sites?filters[locked:eq]=true&filters[locked:eq]=false'],
    ['a parameter given twice', '/sites?page=1&page=2'],
  ]) {
    const { status, body } = await get(path);
    expect({ what, status, code: body.error.code }).toEqual({ what, status: 400, code: 'bad_request' });
    expect(body.error.message).not.toBe('');
  }
});
