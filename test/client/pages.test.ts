import { expect, test } from 'vitest';
import { allItems, countItems, type FetchPage } from '../../src/client/pages.ts';

/** A list of tags that a test may change between two requests; it records the requested pages. */
function changingList(count: number, beforePage: (page: number, ids: string[]) => void = () => undefined) {
  const ids = Array.from({ length: count }, (_, index) => `tag-${index}`);
  const asked: number[] = [];
  const fetch: FetchPage = ({ page = 1, perPage = 100 }) => {
    beforePage(page, ids);
    asked.push(page);
    const tags = ids.slice((page - 1) * perPage, page * perPage).map((id) => ({ id }));
    const pagination = { totalItems: ids.length, totalPages: Math.max(1, Math.ceil(ids.length / perPage)) };
    return Promise.resolve({ tags, meta: { pagination } });
  };
  return { ids, asked, fetch };
}

async function idsOf(fetch: FetchPage): Promise<string[]> {
  const ids: string[] = [];
  for await (const { id } of allItems('listTags', fetch)) ids.push(id);
  return ids;
}

test('a list costs one request per hundred items, in the order of the service', async () => {
  const { ids, asked, fetch } = changingList(250);
  expect(await idsOf(fetch)).toEqual(ids);
  expect(asked).toEqual([1, 2, 3]);
});

test('an empty list costs one request', async () => {
  const { asked, fetch } = changingList(0);
  expect(await idsOf(fetch)).toEqual([]);
  expect(asked).toEqual([1]);
});

test('an item that moves to a later page meanwhile is returned once', async () => {
  const { ids, fetch } = changingList(150, (page, now) => {
    if (page === 2 && now[0] === 'tag-0') now.push(now.shift() ?? '');
  });
  const found = await idsOf(fetch);
  expect([...found].sort()).toEqual([...ids].sort());
  expect(new Set(found).size).toBe(found.length);
});

test('an item that moves to an earlier page meanwhile is found in a second round', async () => {
  const { ids, asked, fetch } = changingList(150, (page, now) => {
    if (page === 2 && now[0] === 'tag-0') now.unshift(now.pop() ?? '');
  });
  expect((await idsOf(fetch)).sort()).toEqual([...ids].sort());
  expect(asked).toEqual([1, 2, 1, 2]);
});

test('an item that is removed meanwhile hides none of the others', async () => {
  const { ids, fetch } = changingList(250, (page, now) => {
    if (page === 2 && now[0] === 'tag-0') now.shift();
  });
  expect(await idsOf(fetch)).toEqual(expect.arrayContaining(ids));
});

test('a list that reports more items than it has is read three times and no more', async () => {
  let asked = 0;
  const fetch: FetchPage = () => {
    asked += 1;
    return Promise.resolve({
      tags: [{ id: 'only' }],
      meta: { pagination: { totalPages: 1, totalItems: 2 } },
    });
  };
  expect(await idsOf(fetch)).toEqual(['only']);
  expect(asked).toBe(3);
});

test('a list that keeps changing is read three times and no more', async () => {
  const { asked, fetch } = changingList(150, (page, now) => {
    if (page === 2) now.unshift('new-a', 'new-b');
  });
  await idsOf(fetch);
  expect(asked).toEqual([1, 2, 1, 2, 1, 2]);
});

test('a service that reports more pages than it has is not asked for all of them', async () => {
  const asked: unknown[] = [];
  const fetch: FetchPage = (query) => {
    asked.push(query.page);
    return Promise.resolve({ tags: [], meta: { pagination: { totalPages: 1_000_000, totalItems: 0 } } });
  };
  expect(await idsOf(fetch)).toEqual([]);
  expect(asked).toEqual([1]);
});

/**
 * A list like `changingList`, of a service that shows no `meta`, or less of it, and at most `most` items per
 * page.
 */
function barePages(count: number, { most = 100, total = false }: { most?: number; total?: boolean } = {}) {
  const ids = Array.from({ length: count }, (_, index) => `tag-${index}`);
  const asked: number[] = [];
  const fetch: FetchPage = ({ page = 1, perPage = 100 }) => {
    asked.push(page);
    const size = Math.min(perPage, most);
    const tags = ids.slice((page - 1) * size, page * size).map((id) => ({ id }));
    return Promise.resolve({ tags, ...(total ? { meta: { pagination: { totalItems: count } } } : {}) });
  };
  return { ids, asked, fetch };
}

test('a page that does not show the number of pages does not count as the last one', async () => {
  const { ids, asked, fetch } = barePages(250);
  expect(await idsOf(fetch)).toEqual(ids);
  expect(asked).toEqual([1, 2, 3, 4, 1, 2, 3, 4]);
});

test('without a count, a page that is shorter than requested does not count as the last one', async () => {
  const { ids, asked, fetch } = barePages(60, { most: 25 });
  expect(await idsOf(fetch)).toEqual(ids);
  expect(asked).toEqual([1, 2, 3, 4]);
});

test('a list that shows only its count is read until it is reached', async () => {
  const { ids, asked, fetch } = barePages(250, { total: true });
  expect(await idsOf(fetch)).toEqual(ids);
  expect(asked).toEqual([1, 2, 3, 4]);
});

test('a service without counts that returns the same page for every number is not read forever', async () => {
  const asked: unknown[] = [];
  const fetch: FetchPage = ({ page }) => {
    asked.push(page);
    return Promise.resolve({ tags: [{ id: 'only' }] });
  };
  expect(await idsOf(fetch)).toEqual(['only']);
  expect(asked).toEqual([1, 2]);
});

test('items are counted by the number that the service shows, or else by reading the list', async () => {
  const shown = changingList(250);
  expect(await countItems('listTags', shown.fetch)).toBe(250);
  expect(shown.asked).toEqual([1]);
  expect(await countItems('listTags', barePages(250).fetch)).toBe(250);
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
  const { asked, fetch } = changingList(250);
  for await (const { id } of allItems('listTags', fetch)) if (id === 'tag-7') break;
  expect(asked).toEqual([1]);
});

test('a caller that repeats the read anyway can choose one round', async () => {
  const { asked, fetch } = changingList(150, (page, now) => {
    if (page === 2) now.unshift('new-a', 'new-b');
  });
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
  const { ids, asked, fetch } = changingList(250);
  const short: FetchPage = async (query) => {
    const answer = (await fetch(query)) as { meta: { pagination: object } };
    return { ...answer, meta: { pagination: { ...answer.meta.pagination, totalPages: 1 } } };
  };
  expect(await reportedOf(short)).toEqual({ ids: ids.length, reported: [] });
  expect(asked).toEqual([1, 2, 3]);
});

test('a list that is complete, or grows while it is read, is not reported', async () => {
  const growing = changingList(150, (page, now) => {
    if (page === 2) now.push(`new-${now.length}`);
  });
  expect((await reportedOf(growing.fetch)).reported).toEqual([]);
  expect((await reportedOf(barePages(250).fetch)).reported).toEqual([]);
});
