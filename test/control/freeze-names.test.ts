/** A freeze by a name that several have would hold for all of them, silently. */
import { expect, test } from 'vitest';
import { needNames } from '../../src/control/freeze-names.ts';

const client = (id: string, company: string, first: string, last: string) => ({
  id,
  company_name: company,
  first_name: first,
  last_name: last,
});
const clients = [
  client('c-1', 'Acorn Travel', 'Ann', 'Oak'),
  client('c-2', 'acorn travel', 'Bob', 'Elm'),
  client('c-3', 'Elm & Sons', 'Bob', 'Elm'),
  client('c-4', 'Oak', 'Oak', 'Ash'),
];
const tags = [
  { id: 't-1', name: 'Gold' },
  { id: 't-2', name: 'gold' },
];
/** An account that answers with these lists. */
const deps = {
  settings: { accounts: { default: {} } },
  registry: { names: () => [] },
  link: () => ({
    client: {
      call: async (list: string) => ({ clients, tags, meta: { pagination: { total_pages: 1 } }, list }),
    },
  }),
} as unknown as Parameters<typeof needNames>[1];

test.each([
  [{ client: 'acorn Travel' }, 'Several clients are called "acorn Travel": "c-1", "c-2". Use the id'],
  [{ client: 'Acorn Travel' }, 'Several clients are called "Acorn Travel": "c-1", "c-2". Use the id'],
  [{ client: 'bob elm' }, 'Several clients are called "bob elm": "c-2", "c-3". Use the id'],
  [{ tag: 'GOLD' }, 'Several tags are called "GOLD": "t-1", "t-2". Use the id'],
])('%j is refused', async (scope, message) => {
  await expect(needNames(scope, deps)).rejects.toThrow(message);
});

test.each([{ client: 'c-2' }, { client: 'elm & sons' }, { client: 'oak' }, { tag: 't-1' }])(
  '%j is one',
  async (scope) => {
    expect(await needNames(scope, deps)).toBeUndefined();
  },
);
