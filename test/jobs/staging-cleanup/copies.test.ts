import { describe, expect, test } from 'vitest';
import { busyCopies, newestOfEach } from '../../../jobs/staging-cleanup/copies.ts';

const copy = (id: string, day: number, changes: object = {}) => ({
  id,
  site_id: 's',
  status: 'active',
  created_at: `2026-11-${String(day).padStart(2, '0')}T00:00:00Z`,
  ...changes,
});

describe('the newest copies of each live site', () => {
  test('are counted for each site, newest first, in whatever order they are listed', () => {
    const copies = [copy('a', 1), copy('b', 3), copy('c', 2), copy('d', 1, { site_id: 't' })];
    expect([...newestOfEach(copies, 2)]).toEqual(['b', 'c', 'd']);
    expect([...newestOfEach(copies, 0)]).toEqual([]);
  });

  test('are always the same when several copies were created at the same time', () => {
    const copies = [copy('a', 1), copy('b', 1), copy('c', 1)];
    expect(newestOfEach(copies, 1)).toEqual(new Set(['c']));
    expect(newestOfEach(copies.toReversed(), 1)).toEqual(new Set(['c']));
  });

  test('do not include a copy that is not ready, or whose creation date is not shown', () => {
    const copies = [
      copy('a', 1),
      copy('b', 3, { status: 'initializing' }),
      copy('c', 3, { created_at: undefined }),
    ];
    expect(newestOfEach(copies, 1)).toEqual(new Set(['a']));
  });
});

describe('the copies that a task is or may be working on', () => {
  const copies = [copy('a', 1, { url: 'https://a.example' }), copy('b', 1), copy('c', 1, { site_id: 't' })];
  const sites = new Map([['s', { url: 'https://s.example' }]]);
  const at = (type: string, ...named: { id?: string; site_url?: string }[]) => [
    ...busyCopies([{ id: '1', status: 'running', type, input: { sites: named } }], copies, sites).keys(),
  ];

  test('are only the one that it names by id or address, even if it names the site too', () => {
    expect(at('download_staging', { id: 's', site_url: 'https://a.example' })).toEqual(['a']);
    expect(at('download_staging', { id: 'c' })).toEqual(['c']);
  });

  test('are all copies of a site that it names by id or address', () => {
    expect(at('configure_staging_site', { id: 's' })).toEqual(['a', 'b']);
    expect(at('staging', { site_url: 'https://s.example' })).toEqual(['a', 'b']);
  });

  test('are all copies when it names nothing that we know, unless it creates a copy of another site', () => {
    expect(at('download_staging', { id: 'internal-7' })).toEqual(['a', 'b', 'c']);
    expect(at('staging', {})).toEqual(['a', 'b', 'c']);
    expect(at('staging', { id: 'another' })).toEqual([]);
  });
});
