import { expect, test } from 'vitest';
import { startCalling } from './calling.ts';

interface Shown {
  requests: { query: string }[];
  effects: unknown[];
  next: { requests_after: number; effects_after: number };
  totals: { requests: Record<string, number> };
}

/** A sandbox that has seen so many requests, and a reader of its journal's page. */
async function startWithRequests(count: number, journal = 100_000) {
  const { sandbox, get } = await startCalling({ sites: 1, journal });
  const ask = async (from: number, until: number) => {
    for (let page = from; page <= until; page += 1) await get(`/tags?page=${page}`);
  };
  await ask(1, count);
  const read = async (query = '') => {
    const response = await fetch(new URL(`/__sandbox/journal${query}`, sandbox.url));
    return (await response.json()) as Shown;
  };
  const pagesOf = ({ requests }: Shown) => requests.map(({ query }) => Number(query.replace('page=', '')));
  return { ask, read, pagesOf };
}

test('the journal page shows the newest entries, as many as requested', async () => {
  const { read, pagesOf } = await startWithRequests(12);
  const shown = await read('?limit=5');
  expect(pagesOf(shown)).toEqual([8, 9, 10, 11, 12]);
  expect(shown.totals.requests).toEqual({ listTags: 12 });
  expect(pagesOf(await read())).toHaveLength(12);
});

test('a reader that continues from the last number sees each entry once', async () => {
  const { ask, read, pagesOf } = await startWithRequests(7);
  const seen: number[] = [];
  let after = 0;
  for (let turn = 0; turn < 4; turn += 1) {
    const shown = await read(`?requests_after=${after}&limit=3`);
    seen.push(...pagesOf(shown));
    after = shown.next.requests_after;
    if (turn === 1) await ask(8, 9);
  }
  expect(seen).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9]);
  expect((await read(`?requests_after=${after}`)).next.requests_after).toBe(9);
});

test('entries keep their numbers when older ones are dropped, and all of them count', async () => {
  const { read, pagesOf } = await startWithRequests(25, 4);
  expect(pagesOf(await read('?requests_after=23'))).toEqual([24, 25]);
  expect(pagesOf(await read('?requests_after=2'))).toEqual([22, 23, 24, 25]);
  const { next, totals } = await read();
  expect([next.requests_after, totals.requests]).toEqual([25, { listTags: 25 }]);
});
