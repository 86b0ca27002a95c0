/**
 * The page of sites: what the service showed of each, how runs did on it, and what is open on it. Which sites are
 * listed is tested in `test/control/list-sites.test.ts`.
 */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { Target } from '../../src/run/run.ts';
import { findIn } from '../support/findings.ts';
import { heldClock, NOON } from '../support/held-clock.ts';
import { workedOn } from '../support/worked-on.ts';
import {
  anAccount,
  aPolicy,
  aRun,
  ended,
  pagesFrom,
  rowsOf,
  startWorld,
  usersOf,
  type World,
} from './world.ts';

const HOUR = 3_600_000;

let world: World;
afterEach(() => world?.stop());

const rowsIn = (html: string) => rowsOf(html, 'id="sites"');
const namesIn = (html: string) => rowsIn(html).map((row) => row.split(' ')[0]);

let runs = 0;
/** A run that worked on these targets, so long before noon. */
async function worked(
  targets: Target[],
  {
    hours,
    records = world.records,
    ...changes
  }: { hours: number; records?: World['records']; policy?: string; account?: string },
) {
  runs += 1;
  const at = NOON - hours * HOUR;
  const finished = targets.map((target) => ({ ...target, finishedAt: at }) as Target);
  const run = aRun({ id: `run.${runs}`, createdAt: at, ...changes });
  await workedOn(records, run, finished as Parameters<typeof workedOn>[2], { at });
}

test('each site is listed with its last result, how often it failed in a row, and its open findings', async () => {
  world = await startWorld({ clock: heldClock() });
  const [b, a] = [{ label: 'b.example' }, { label: 'a.example', reason: 'timeout' }];
  await worked([ended('b', 'failed', b), ended('a', 'succeeded', a)], { hours: 40 });
  await worked([ended('a', 'failed', a)], { hours: 30 });
  await worked([ended('a', 'failed', a)], { hours: 2, policy: 'updates' });
  await worked([ended('b', 'succeeded', b)], { hours: 1 });
  await findIn(world.records, { at: NOON, found: [{ target: 'b' }, { target: 'b/plugin', site: 'b' }] });

  const { html, text } = await world.look('/sites');

  expect(rowsIn(html)).toEqual([
    'a.example a not known not known failed 2 × 2 h ago –',
    'b.example b not known not known succeeded 1 h ago 2',
  ]);
  expect(text).toContain(
    'The sites of default were never read: only those that stored runs have worked on are listed.',
  );
  expect(text).toContain(
    'The account default was not read again: listTags: the service gave no usable answer: no account can be asked here.',
  );
  expect(html).toContain('href="/targets/default/a"');
  expect((await world.look('/sites?account=renamed')).text).toContain(
    'There is no account renamed: only what stored runs have worked on is known of it.',
  );
});

test('what the service showed of a site is listed, with the time of that, whether a run worked on it or not', async () => {
  world = await startWorld({ clock: heldClock() });
  const hoursAgo = (hours: number) => new Date(NOON - hours * HOUR).toISOString();
  await world.records.sites.replace('default', NOON - 120_000, [
    {
      ...{ id: 's-1', url: 'https://a.example', title: 'Shop', client: { id: '1', name: 'Acme' } },
      ...{ tags: [{ id: '7', name: 'VIP' }], last_sync_at: hoursAgo(5), last_sync_status: 'succeeded' },
      connection: 'connected',
    },
    {
      ...{
        id: 's-2',
        url: 'https://b.example',
        title: '',
        last_sync_at: null,
        scanner: 'hacked',
        locked: true,
      },
      connection: 'disconnected',
    },
    { id: 's-3', url: '', title: '' },
  ]);
  await worked([ended('gone', 'succeeded', { label: 'https://z.example' })], { hours: 1 });

  const { html, text } = await world.look('/sites');

  expect(rowsIn(html)).toEqual([
    's-3 not known none stored –',
    'a.example Shop Acme VIP 5 h ago connected none stored –',
    'b.example s-2 never hacked disconnected, locked none stored –',
    'z.example gone not known not in the account succeeded 1 h ago –',
  ]);
  expect(text).toContain('3 sites');
  expect(text).toMatch(/As of 2026-11-21 11:58 UTC 2 min ago/);
  expect(html).toContain('href="/sites?client=Acme"');
});

describe('of three sites', () => {
  let three: World;
  beforeAll(async () => {
    three = await startWorld({
      clock: heldClock(),
      accounts: async () => [anAccount(), anAccount({ account: 'second' })],
    });
    const { records } = three;
    const [a, b] = [{ label: 'a.example' }, { label: 'b.example' }];
    await worked([ended('1', 'failed', a), ended('2', 'succeeded', b)], { hours: 1, records });
    const more = { hours: 1, records, account: 'second' };
    await worked([ended('3', 'skipped', { label: 'bb.example' })], more);
  });
  afterAll(() => three.stop());

  test.each([
    ['result=failed', ['a.example']],
    ['q=EXAMPLE+b', ['b.example', 'bb.example']],
    ['dir=down', ['bb.example', 'b.example', 'a.example']],
    ['account=second', ['bb.example']],
    ['q=nothing', []],
    ['client=Nobody', []],
    ['kind=other', []],
    ['findings=open&not_synced=nonsense&not_backed_up=nonsense', []],
  ])('with %s only these are listed', async (query, names) => {
    expect(namesIn((await three.look(`/sites?${query}`)).html)).toEqual(names);
  });

  test.each(['not_synced', 'not_backed_up'])(
    'a duration of %s that cannot be understood is told, and no site is listed as if it matched',
    async (filter) => {
      const { html, text } = await three.look(`/sites?${filter}=7`);
      expect(text).toContain('“7” is no duration: write 3d or 12h.');
      expect(namesIn(html)).toEqual([]);
      // It stays in its field, to be corrected.
      expect(html).toMatch(new RegExp(`name="${filter}"[^>]*value="7"|value="7"[^>]*name="${filter}"`));
    },
  );
});

test('who looks for sites without a backup sees of each what its last backup was', async () => {
  world = await startWorld({ clock: heldClock() });
  const snapshot = (days: number, status = 'succeeded') => ({
    latest_snapshot: { created_at: new Date(NOON - days * 24 * HOUR).toISOString(), status },
  });
  const sites = [
    { id: 'a', ...snapshot(2) },
    { id: 'b', ...snapshot(9) },
    { id: 'c', ...snapshot(1, 'failed') },
    { id: 'd', ...snapshot(2), backups_enabled: false },
    { id: 'e' },
  ];
  await world.records.sites.replace(
    'default',
    NOON - 120_000,
    sites.map((site) => ({ url: '', title: '', ...site })),
  );

  const { html, text } = await world.look('/sites?not_backed_up=7d');

  expect(text).toContain('Last backup');
  expect(rowsIn(html)).toEqual([
    'b 9 d ago none stored –',
    'c failed none stored –',
    'd off none stored –',
    'e not known none stored –',
  ]);
  expect((await world.look('/targets/default/d')).text).toMatch(/Backups\s+off/);
});

test('every site is on exactly one page, with a filter by the last result too', async () => {
  world = await startWorld({ clock: heldClock() });
  const all = Array.from({ length: 120 }, (_, at) => ended(`s-${at}`, at % 2 ? 'failed' : 'succeeded'));
  await worked(all, { hours: 1 });
  const ask = await world.signedIn();

  for (const [first, count] of [
    ['/sites', 120],
    ['/sites?result=failed', 60],
  ] as const) {
    const seen = (await pagesFrom(ask, first, 'Next')).flatMap(namesIn);
    expect(seen).toHaveLength(count);
    expect(new Set(seen).size).toBe(count);
  }
});

test('without sites the page says when they are listed', async () => {
  world = await startWorld({ clock: heldClock() });

  expect((await world.look('/sites')).text).toContain(
    'The sites of the accounts are listed here when they have been read.',
  );
});

test('somebody with limits sees the sites of what they cover, with the results of those runs alone', async () => {
  world = await startWorld({
    clock: heldClock(),
    policies: () => [aPolicy('inside'), aPolicy('outside')],
    access: () => usersOf({ ana: [{ role: 'viewer', policies: ['inside'] }] }),
    password: null,
  });
  const [both, other] = [{ label: 'both.example' }, { label: 'other.example' }];
  await worked([ended('both', 'succeeded', both)], { hours: 3, policy: 'inside' });
  await worked([ended('both', 'failed', both), ended('other', 'failed', other)], {
    hours: 1,
    policy: 'outside',
  });
  await findIn(world.records, { at: NOON, policy: 'outside', found: [{ target: 'both' }] });

  const { html } = await world.look('/sites', 'ana');

  expect(rowsIn(html)).toEqual(['both.example both not known not known succeeded 3 h ago –']);
  expect(html).not.toContain('outside');
});
