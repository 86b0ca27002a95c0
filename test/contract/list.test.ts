import { expect, test } from 'vitest';
import { checkListQuery, type ListQuery } from '../../src/contract/list.ts';
import { operations } from '../../src/contract/operations.ts';

const { list } = operations.listSites;

test('filters are taken as operators write them in YAML', () => {
  const filters = {
    connection_status: { eq: 'connected' },
    locked: { eq: 'false' },
    php_version: { gt: '7.4', lt: 8 },
    last_sync_at: { gte: '2026-11-20', lte: '2026-11-21T02:00:00+01:00' },
    tags: { in: ['12'] },
    url: { contains: 'shop' },
  } as const;

  expect(checkListQuery(list, { filters })).toEqual([]);
});

test.each([
  [{ tag: { in: ['12'] } }, ['filters', 'tag'], 'cannot filter by "tag"'],
  [{ constructor: { eq: 'x' } }, ['filters', 'constructor'], 'cannot filter by "constructor"'],
  [{ url: { eq: 'x' } }, ['filters', 'url', 'eq'], '"url" does not support the operator "eq"'],
  [{ url: 'x' }, ['filters', 'url'], 'is written { operator: value }'],
  [{ tags: { in: '12' } }, ['filters', 'tags', 'in'], '"in" needs a list'],
  [{ tags: { in: [] } }, ['filters', 'tags', 'in'], '"in" needs at least one value'],
  [{ tags: { in: [{}] } }, ['filters', 'tags', 'in'], 'must be a string'],
  [{ paused: { eq: 'yes' } }, ['filters', 'paused', 'eq'], 'must be true or false'],
  [{ scanner_status: { eq: 'ill' } }, ['filters', 'scanner_status', 'eq'], '"ill" is not one of its values'],
  [
    { created_at: { gte: 'May' } },
    ['filters', 'created_at', 'gte'],
    'must be a time such as 2026-11-21T02:00:00Z',
  ],
  [
    { php_version: { eq: '8.1.2.3' } },
    ['filters', 'php_version', 'eq'],
    'must be a version such as 8 or 8.1',
  ],
  [[], ['filters'], 'is written { field: { operator: value } }'],
])('the filter %j would be answered with 400', (filters, path, message) => {
  expect(checkListQuery(list, { filters } as unknown as ListQuery)).toEqual([
    expect.objectContaining({ path, message }),
  ]);
});

test('a faulty name comes with the names that are allowed in its place', () => {
  expect(checkListQuery(list, { sort: 'title,asc', filters: { url: { eq: 'x' } } })).toMatchObject([
    { allowed: ['created_at', 'updated_at', 'url', 'last_sync_at'] },
    { allowed: ['contains'] },
  ]);
});

test.each([
  { sort: 'url' },
  { sort: 'url,up' },
  { sort: 'url,asc,desc' },
  { sort: 7 },
  { page: 0 },
  { page: 1.5 },
  { page: '1' },
  { perPage: 101 },
  { timezone: 'Berlin' },
  { timezone: '' },
])('the query %j has one fault', (query) => {
  expect(checkListQuery(list, query as unknown as ListQuery)).toHaveLength(1);
});

test('the filter for snapshots with a note takes true or false', () => {
  const { list: snapshots } = operations.listSiteSnapshots;

  expect(checkListQuery(snapshots, { filters: { note: { present: true } } })).toEqual([]);
  expect(checkListQuery(snapshots, { filters: { note: { present: 'a note' } } })).toHaveLength(1);
  expect(checkListQuery(snapshots, { timezone: 'UTC' })).toHaveLength(1);
});
