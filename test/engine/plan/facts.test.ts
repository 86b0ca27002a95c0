/** Which fields a decision rests on, and what differs between two looks. */
import { expect, test } from 'vitest';
import { differencesOf, Reads } from '../../../src/engine/plan/facts.ts';
import { fieldsOfItem } from '../../../src/job/fields.ts';
import { compileWhere } from '../../../src/policy/where.ts';

interface Site {
  url: string;
  locked?: boolean;
  client: { id: string; name: string } | null;
  tags: { id: string; name: string; color: string }[];
}
const site = (changes: Partial<Site> = {}): Site => ({
  url: 'https://a.example',
  locked: false,
  client: { id: 'c1', name: 'ACME' },
  tags: [
    { id: '1', name: 'VIP', color: 'red' },
    { id: '2', name: 'Shop', color: 'blue' },
  ],
  ...changes,
});

const factsOf = (item: Site, read: (site: Site) => unknown) => {
  const reads = new Reads();
  read(reads.observe('site', item));
  return reads.facts();
};

test('only fields that were read are facts', () => {
  expect(factsOf(site(), ({ locked }) => locked)).toEqual({ 'site.locked': false });
  expect(factsOf(site(), ({ client }) => client?.name)).toEqual({ 'site.client.name': 'ACME' });
  expect(factsOf(site({ client: null }), ({ client }) => client?.name)).toEqual({ 'site.client': null });
});

test('a field that the service does not show is no fact, and becomes one when it is shown', () => {
  const { locked: _hidden, ...hidden } = site();
  const before = factsOf(hidden, (one) => one.locked);
  expect(before).toEqual({});
  expect(
    differencesOf(
      before,
      factsOf(site(), ({ locked }) => locked),
    ),
  ).toEqual([{ field: 'site.locked', to: false }]);
});

test('a list is one fact with the fields that were read of its items, in whichever order they come', () => {
  const read = ({ tags }: Site) => tags.some(({ name }) => name === 'Shop');
  const [one, other] = site().tags;
  const before = factsOf(site(), read);
  expect(before).toEqual({ 'site.tags': [{ name: 'Shop' }, { name: 'VIP' }] });
  const turned = factsOf(site({ tags: [other, one].flatMap((tag) => tag ?? []) }), read);
  expect(differencesOf(before, turned)).toEqual([]);
  expect(differencesOf(before, factsOf(site({ tags: [] }), read))).toMatchObject([
    { field: 'site.tags', to: [] },
  ]);
});

test('a condition reads the fields that it needs to decide, and no others', () => {
  const where = compileWhere('!site.locked && site.tags.exists(t, t.name == "VIP") || site.url == "x"', {
    site: fieldsOfItem('listSites'),
  });
  const read = (one: Site) => where.test({ site: one }, new Date(0));
  expect(Object.keys(factsOf(site(), read))).toEqual(['site.locked', 'site.tags']);
  expect(Object.keys(factsOf(site({ locked: true }), read))).toEqual(['site.locked', 'site.url']);
});

test('what differs in both comes before what one of them did not read', () => {
  expect(differencesOf({ a: 1, b: 1 }, { a: 2, c: 3 })).toEqual([{ field: 'a', from: 1, to: 2 }]);
});

test('a credential is never a fact', () => {
  const reads = new Reads();
  const item = reads.observe('site', {
    http_auth: { password: 'hunter22' },
    url: 'https://u:hunter22@a.example',
  });
  JSON.stringify([item.http_auth, item.http_auth.password, item.url]);
  expect(JSON.stringify(reads.facts())).not.toContain('hunter22');
});
