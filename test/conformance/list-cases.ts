/**
 * The cases of the list protocol (spec 4.1) for one list: which filters, operators and sorts it takes, that
 * each of them works, and that others are refused. Expected results are computed from the whole list.
 */
import { expect } from 'vitest';
import type { Conform, Tools } from './harness.ts';

// biome-ignore lint/suspicious/noExplicitAny: a case reads the answer's JSON as it comes.
type Item = any;

/**
 * A filter as in the section, and where an item shows the filtered value (default: the field with its name).
 */
interface FilterCase {
  operators: readonly string[];
  read?: (item: Item) => unknown;
  /** A value that is not allowed. */
  wrong?: string;
  /** Values to try in addition to those of the items. */
  try?: readonly string[];
}

interface PagedCase {
  /** The path of the list; may look for a site first. */
  path: string | ((tools: Tools) => Promise<string>);
  key: string;
  timezone: boolean;
}

interface ListCase extends PagedCase {
  filters: Record<string, FilterCase>;
  sorts: readonly string[];
  defaultSort: string;
}

const operators = ['contains', 'eq', 'in', 'gte', 'lte', 'gt', 'lt', 'present'];

const written = (field: string, operator: string, value: string) =>
  `filters[${field}:${operator}]${operator === 'in' ? '[]' : ''}=${encodeURIComponent(value)}`;

/**
 * Whether a value passes a filter: of several values one is enough, and texts are compared
 * case-insensitively.
 */
const tests: Record<string, (value: string, asked: string) => boolean> = {
  eq: (value, asked) => value === asked,
  in: (value, asked) => value === asked,
  contains: (value, asked) => value.toLowerCase().includes(asked.toLowerCase()),
  gte: (value, asked) => value >= asked,
  lte: (value, asked) => value <= asked,
};

/** Declares the cases of one list. */
export function listCases(conform: Conform, row: ListCase): void {
  const { key, filters, sorts, defaultSort } = row;
  const pathOf = async (tools: Tools) => (typeof row.path === 'string' ? row.path : row.path(tools));
  const readOf = (field: string) => filters[field]?.read ?? ((item: Item) => item[field]);

  conform('the list takes its filters with their operators, each of which holds', async (tools) => {
    const path = await pathOf(tools);
    const all: Item[] = (await tools.call('GET', path)).body[key];
    for (const [field, { operators: own, try: more = [] }] of Object.entries(filters)) {
      const values = (item: Item): string[] =>
        [readOf(field)(item)]
          .flat()
          .filter((one) => one !== null)
          .map(String);
      const asked = [
        ...new Set([...more, ...[all.at(0), all.at(-1)].flatMap((item) => (item ? values(item) : []))]),
      ];
      for (const operator of own) {
        const holds = tests[operator];
        for (const value of asked
          .slice(0, Math.max(4, more.length))
          .map((one) => (operator === 'contains' ? one.slice(1, 6) : one))) {
          const query = written(field, operator, value);
          const { status, body } = await tools.call('GET', `${path}?${query}`);
          expect(status, query).toBe(200);
          const expected = all.filter((item) => values(item).some((one) => holds?.(one, value)));
          const ids = (items: Item[]) => items.map(({ id }) => id);
          expect(ids(body[key]), query).toEqual(ids(expected));
        }
      }
    }
  });

  conform('the list refuses other filters, operators and values with 400', async (tools) => {
    const path = await pathOf(tools);
    const refused = [written('nonsense', 'eq', 'a')];
    for (const [field, { operators: own, wrong }] of Object.entries(filters)) {
      const others = operators.filter((operator) => !own.includes(operator));
      refused.push(...others.map((operator) => written(field, operator, '1')));
      if (wrong !== undefined) refused.push(...own.map((operator) => written(field, operator, wrong)));
    }
    for (const query of refused) {
      expect([query, (await tools.call('GET', `${path}?${query}`)).status]).toEqual([query, 400]);
    }
  });

  conform(`the list sorts both ways by its fields, by default ${defaultSort}`, async (tools) => {
    const path = await pathOf(tools);
    const read = async (query: string): Promise<Item[]> =>
      (await tools.call('GET', `${path}${query}`)).body[key];
    for (const field of sorts) {
      const values = async (direction: string) =>
        (await read(`?sort=${field},${direction}`)).map((item) => String([readOf(field)(item)].flat()[0]));
      const up = await values('asc');
      expect(up, `${field},asc`).toEqual(
        [...up].sort((left, right) => (left < right ? -1 : left > right ? 1 : 0)),
      );
      expect(await values('desc'), `${field},desc`).toEqual([...up].reverse());
    }
    expect(await read('')).toEqual(await read(`?sort=${defaultSort}`));
    for (const sort of ['nonsense,asc', `${sorts[0]},up`, `${sorts[0]}`, ',asc']) {
      expect([sort, (await tools.call('GET', `${path}?sort=${sort}`)).status]).toEqual([sort, 400]);
    }
  });

  pageCases(conform, row);
}

/** Declares the cases of the pages and the timezone of one list. */
function pageCases(conform: Conform, { path: given, key, timezone }: PagedCase): void {
  const pathOf = async (tools: Tools) => (typeof given === 'string' ? given : given(tools));

  conform('the list is cut into pages, 100 a page unless said otherwise', async (tools) => {
    const path = await pathOf(tools);
    const whole = (await tools.call('GET', path)).body;
    expect(Object.keys(whole).sort()).toEqual([key, 'meta'].sort());
    const { totalItems } = whole.meta.pagination;
    const totalPages = Math.ceil(totalItems / 100);
    expect(whole.meta.pagination).toEqual({ page: 1, perPage: 100, totalPages, totalItems });
    expect(whole[key]).toHaveLength(Math.min(100, totalItems));
    const paged: Item[] = [];
    for (let page = 1; page <= Math.min(totalItems, 5); page += 1) {
      const { body } = await tools.call('GET', `${path}?page=${page}&perPage=1`);
      expect(body.meta.pagination).toEqual({ page, perPage: 1, totalPages: totalItems, totalItems });
      paged.push(...body[key]);
    }
    expect(paged).toEqual(whole[key].slice(0, 5));
    const pages = ['page=0', 'page=-1', 'page=one', 'page=1.5', 'perPage=0', 'perPage=101', 'perPage=all'];
    for (const query of [...pages, 'pages=1', 'limit=5', 'sort=', 'sort=nonsense,asc', 'filters=1']) {
      expect([query, (await tools.call('GET', `${path}?${query}`)).status]).toEqual([query, 400]);
    }
  });

  conform(`the list ${timezone ? 'takes' : 'takes no'} timezone`, async (tools) => {
    const path = await pathOf(tools);
    for (const zone of ['Europe/Berlin', 'UTC']) {
      const { status } = await tools.call('GET', `${path}?timezone=${zone}`);
      expect(status).toBe(timezone ? 200 : 400);
    }
    expect((await tools.call('GET', `${path}?timezone=Nowhere/Land`)).status).toBe(400);
  });
}

/** Time filters whose field in the item has the filter's name. */
export const moment: FilterCase = { operators: ['gte', 'lte'], wrong: 'soon' };
/** Filters that are true or false. */
export const flag = (read: NonNullable<FilterCase['read']>): FilterCase => ({
  operators: ['eq'],
  wrong: 'yes',
  try: ['true', 'false'],
  read,
});
