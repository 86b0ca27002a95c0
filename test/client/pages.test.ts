import { expect, test } from 'vitest';
import { allItems, countItems, type FetchPage } from '../../src/client/pages.ts';

interface Service {
  /** Changes the list before its second page is answered. */
  meanwhile?: (ids: string[]) => unknown;
  /** At most so many items on a page. */
  most?: number;
  /** What it shows of the pagination; default both. */
  shows?: readonly ('totalItems' | 'totalPages')[];
}

/** A list of so many tags; it records the requested pages. */
function listOf(
  count: number,
  { meanwhile, most = 100, shows = ['totalItems', 'totalPages'] }: Service = {},
) {
  const ids = Array.from({ length: count }, (_, index) => `tag-${index}`);
  const asked: number[] = [];
  const fetch: FetchPage = ({ page = 1, perPage = 100 }) => {
    if (page === 2) meanwhile?.(ids);
    asked.push(page);
    const size = Math.min(perPage, most);
    const tags = ids.slice((page - 1) * size, page * size).map((id) => ({ id }));
    const counts = { totalItems: ids.length, totalPages: Math.max(1, Math.ceil(ids.length / size)) };
    const pagination = Object.fromEntries(shows.map((name) => [name, counts[name]]));
    return Promise.resolve({ tags, ...(shows.length > 0 && { meta: { pagination } }) });
  };
  return { ids, asked, fetch };
}

/** A list that answers every page alike. */
function alike(answer: object) {
  const asked: unknown[] = [];
  const fetch: FetchPage = ({ page }) => {
    asked.push(page);
    return Promise.resolve(answer);
  };
  return { asked, fetch };
}

async function idsOf(fetch: FetchPage): Promise<string[]> {
  const ids: string[] = [];
  for await (const { id } of allItems('listTags', fetch)) ids.push(id);
  return ids;
}

test.each<[string, number, Service, number[]]>([
  ['a list costs one request per hundred items, in the order of the service', 250, {}, [1, 2, 3]],
  ['an empty list costs one request', 0, {}, [1]],
  ['without the number of pages, no page counts as the last', 250, { shows: [] }, [1, 2, 3, 4, 1, 2, 3, 4]],
  [
    'without a count, a page shorter than requested does not count as the last',
    60,
    { most: 25, shows: [] },
    [1, 2, 3, 4],
  ],
  ['a list that shows its count is read until it is reached', 250, { shows: ['totalItems'] }, [1, 2, 3, 4]],
])('%s', async (_, count, shown, requests) => {
  const { ids, asked, fetch } = listOf(count, shown);
  expect(await idsOf(fetch)).toEqual(ids);
  expect(asked).toEqual(requests);
});

test('an item that moves to a later page meanwhile is returned once', async () => {
  const { ids, fetch } = listOf(150, {
    meanwhile: (now) => now[0] === 'tag-0' && now.push(now.shift() ?? ''),
  });
  const found = await idsOf(fetch);
  expect([...found].sort()).toEqual([...ids].sort());
  expect(new Set(found).size).toBe(found.length);
});

test('an item that moves to an earlier page meanwhile is found in a second round', async () => {
  const { ids, asked, fetch } = listOf(150, {
    meanwhile: (now) => now[0] === 'tag-0' && now.unshift(now.pop() ?? ''),
  });
  expect((await idsOf(fetch)).sort()).toEqual([...ids].sort());
  expect(asked).toEqual([1, 2, 1, 2]);
});

test('an item that is removed meanwhile hides none of the others', async () => {
  const { ids, fetch } = listOf(250, { meanwhile: (now) => now[0] === 'tag-0' && now.shift() });
  expect(await idsOf(fetch)).toEqual(expect.arrayContaining(ids));
});

test('a list that reports more items than it has is read three times and no more', async () => {
  const pagination = { totalPages: 1, totalItems: 2 };
  const { asked, fetch } = alike({ tags: [{ id: 'only' }], meta: { pagination } });
  expect(await idsOf(fetch)).toEqual(['only']);
  expect(asked).toEqual([1, 1, 1]);
});

test('a list that keeps changing is read three times and no more', async () => {
  const { asked, fetch } = listOf(150, { meanwhile: (now) => now.unshift('new-a', 'new-b') });
  await idsOf(fetch);
  expect(asked).toEqual([1, 2, 1, 2, 1, 2]);
});

test('a service that reports more pages than it has is not asked for all of them', async () => {
  const { asked, fetch } = alike({
    tags: [],
    meta: { pagination: { totalPages: 1_000_000, totalItems: 0 } },
  });
  expect(await idsOf(fetch)).toEqual([]);
  expect(asked).toEqual([1]);
});

test('a service without counts that returns the same page for every number is not read forever', async () => {
  const { asked, fetch } = alike({ tags: [{ id: 'only' }] });
  expect(await idsOf(fetch)).toEqual(['only']);
  expect(asked).toEqual([1, 2]);
});

test('items are counted by the number that the service shows, or else by reading the list', async () => {
  const shown = listOf(250);
  expect(await countItems('listTags', shown.fetch)).toBe(250);
  expect(shown.asked).toEqual([1]);
  expect(await countItems('listTags', listOf(250, { shows: [] }).fetch)).toBe(250);
});

test('a list without pages is requested once, without paging', async () => {
  const asked: object[] = [];
  const fetch: FetchPage = (query) => {
    asked.push(query);
    return Promise.resolve({ backup_destinations: [{ id: 'one' }, { id: null }, { id: null }] });
  };
  const ids: unknown[] = [];
  for await (const { id } of allItems('listBackupDestinations', fetch)) ids.push(id);
  expect(ids).toEqual(['one', null, null]);
  expect(asked).toEqual([{}]);
});

test('a caller that stops early pays for no further page', async () => {
  const { asked, fetch } = listOf(250);
  for await (const { id } of allItems('listTags', fetch)) if (id === 'tag-7') break;
  expect(asked).toEqual([1]);
});

test('a caller that repeats the read anyway can choose one round', async () => {
  const { asked, fetch } = listOf(150, { meanwhile: (now) => now.unshift('new-a', 'new-b') });
  for await (const _ of allItems('listTags', fetch, { rounds: 1 }));
  expect(asked).toEqual([1, 2]);
});

test('an error of a request is the error of the list', async () => {
  const failing: FetchPage = () => Promise.reject(new Error('away'));
  await expect(idsOf(failing)).rejects.toThrow('away');
});

/** What is reported of a list at its end. */
async function reportedOf(fetch: FetchPage): Promise<{ ids: number; reported: object[] }> {
  const reported: object[] = [];
  let ids = 0;
  for await (const _ of allItems('listTags', fetch, { onIncomplete: (one) => reported.push(one) })) ids += 1;
  return { ids, reported };
}

test('a list of which fewer items arrive than it counts is reported with both numbers', async () => {
  // The second page shows the items of the first: the order of the service is not stable.
  const unstable: FetchPage = ({ page = 1 }) => {
    const from = [0, 0, 100][page - 1] ?? 200;
    const tags = Array.from({ length: page === 3 ? 50 : 100 }, (_, index) => ({ id: `tag-${from + index}` }));
    return Promise.resolve({ tags, meta: { pagination: { totalItems: 250, totalPages: 3 } } });
  };
  expect(await reportedOf(unstable)).toEqual({
    ids: 150,
    reported: [{ list: 'listTags', arrived: 150, counted: 250 }],
  });
});

test('a list is read on while its number of items needs more pages than it shows', async () => {
  const { ids, asked, fetch } = listOf(250);
  const short: FetchPage = async (query) => {
    const answer = (await fetch(query)) as { meta: { pagination: object } };
    return { ...answer, meta: { pagination: { ...answer.meta.pagination, totalPages: 1 } } };
  };
  expect(await reportedOf(short)).toEqual({ ids: ids.length, reported: [] });
  expect(asked).toEqual([1, 2, 3]);
});

test('a list that is complete, or grows while it is read, is not reported', async () => {
  const growing = listOf(150, { meanwhile: (now) => now.push(`new-${now.length}`) });
  expect((await reportedOf(growing.fetch)).reported).toEqual([]);
  expect((await reportedOf(listOf(250, { shows: [] }).fetch)).reported).toEqual([]);
});
