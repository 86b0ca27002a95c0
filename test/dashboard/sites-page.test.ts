/**
 * The page of sites: what the service showed of each, how runs did on it, and what is open on it. Which sites are listed is
 * tested in `test/control/list-sites.test.ts`.
 */
import { afterEach, expect, test } from 'vitest';
import { noAccess } from '../../src/access/access.ts';
import type { Target } from '../../src/run/run.ts';
import { cheapHash } from '../support/cheap-hash.ts';
import { findIn } from '../support/findings.ts';
import { heldClock, NOON } from '../support/held-clock.ts';
import { workedOn } from '../support/worked-on.ts';
import { anAccount, aPolicy, aRun, ended, postForm, sessionOf, startWorld, type World } from './world.ts';

const HOUR = 3_600_000;

let world: World;
afterEach(() => world.stop());

const textOf = (html: string) => html.replace(/<[^>]+>/g, ' ').replace(/\s+/g, ' ');
const rowsOf = (html: string) =>
  (html.split('id="sites"')[1]?.split('</table>')[0] ?? '')
    .split('<tr ')
    .slice(1)
    .map((row) => textOf(row.slice(row.indexOf('>') + 1)).trim());
const namesOf = (html: string) => rowsOf(html).map((row) => row.split(' ')[0]);

let runs = 0;
/** A run that worked on these targets, so long before noon. */
async function worked(
  targets: Target[],
  { hours, ...changes }: { hours: number; policy?: string; account?: string },
) {
  runs += 1;
  const at = NOON - hours * HOUR;
  const finished = targets.map((target) => ({ ...target, finishedAt: at }) as Target);
  const run = aRun({ id: `run.${runs}`, createdAt: at, ...changes });
  await workedOn(world.records, run, finished as Parameters<typeof workedOn>[2], { at });
}

test('each site is listed with its last result, how often it failed in a row, and its open findings', async () => {
  world = await startWorld({ clock: heldClock() });
  const [b, a] = [{ label: 'b.example' }, { label: 'a.example', reason: 'timeout' }];
  await worked([ended('b', 'failed', b), ended('a', 'succeeded', a)], { hours: 40 });
  await worked([ended('a', 'failed', a)], { hours: 30 });
  await worked([ended('a', 'failed', a)], { hours: 2, policy: 'updates' });
  await worked([ended('b', 'succeeded', b)], { hours: 1 });
  await findIn(world.records, { at: NOON, found: [{ target: 'b' }, { target: 'b/plugin', site: 'b' }] });
  const ask = await world.signedIn();

  const html = await (await ask('/sites')).text();

  expect(rowsOf(html)).toEqual([
    'a.example a not known not known failed 2 × 2 h ago –',
    'b.example b not known not known succeeded 1 h ago 2',
  ]);
  expect(textOf(html)).toContain(
    'The sites of default were never read: only those that stored runs have worked on are listed.',
  );
  expect(textOf(html)).toContain(
    'The account default was not read again: listTags: the service gave no usable answer: no account can be asked here.',
  );
  expect(html).toContain('href="/targets/default/a"');
  expect(textOf(await (await ask('/sites?account=renamed')).text())).toContain(
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
  const ask = await world.signedIn();

  const html = await (await ask('/sites')).text();

  expect(rowsOf(html)).toEqual([
    's-3 not known none stored –',
    'a.example Shop Acme VIP 5 h ago connected none stored –',
    'b.example s-2 never hacked disconnected, locked none stored –',
    'z.example gone not known not in the account succeeded 1 h ago –',
  ]);
  expect(textOf(html)).toContain('3 sites');
  expect(textOf(html)).toMatch(/As of 2026-11-21 11:58 UTC 2 min ago/);
  expect(html).toContain('href="/sites?client=Acme"');
});

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
  world = await startWorld({
    clock: heldClock(),
    accounts: async () => [anAccount(), anAccount({ account: 'second' })],
  });
  const [a, b] = [
    ended('1', 'failed', { label: 'a.example' }),
    ended('2', 'succeeded', { label: 'b.example' }),
  ];
  await worked([a, b], { hours: 1 });
  await worked([ended('3', 'skipped', { label: 'bb.example' })], { hours: 1, account: 'second' });
  const ask = await world.signedIn();

  expect(namesOf(await (await ask(`/sites?${query}`)).text())).toEqual(names);
});

test.each(['not_synced', 'not_backed_up'])(
  'a duration of %s that cannot be understood is told, and no site is listed as if it matched',
  async (filter) => {
    world = await startWorld({ clock: heldClock() });
    await worked([ended('1', 'failed', { label: 'a.example' })], { hours: 1 });
    const html = await (await (await world.signedIn())(`/sites?${filter}=7`)).text();
    expect(textOf(html)).toContain('“7” is no duration: write 3d or 12h.');
    expect(namesOf(html)).toEqual([]);
    // It stays in its field, to be corrected.
    expect(html).toMatch(new RegExp(`name="${filter}"[^>]*value="7"|value="7"[^>]*name="${filter}"`));
  },
);

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
  const ask = await world.signedIn();

  const html = await (await ask('/sites?not_backed_up=7d')).text();

  expect(textOf(html)).toContain('Last backup');
  expect(rowsOf(html)).toEqual([
    'b 9 d ago none stored –',
    'c failed none stored –',
    'd off none stored –',
    'e not known none stored –',
  ]);
  expect(textOf(await (await ask('/targets/default/d')).text())).toMatch(/Backups\s+off/);
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
    const seen: (string | undefined)[] = [];
    let path: string | undefined = first;
    for (let pages = 0; path !== undefined && pages < 10; pages += 1) {
      const html: string = await (await ask(path)).text();
      seen.push(...namesOf(html));
      path = /href="([^"]+)">Next</.exec(html)?.[1]?.replaceAll('&amp;', '&');
    }
    expect(seen).toHaveLength(count);
    expect(new Set(seen).size).toBe(count);
  }
});

test('without sites the page says when they are listed', async () => {
  world = await startWorld({ clock: heldClock() });
  const ask = await world.signedIn();

  expect(textOf(await (await ask('/sites')).text())).toContain(
    'The sites of the accounts are listed here when they have been read.',
  );
});

test('somebody with limits sees the sites of what they cover, with the results of those runs alone', async () => {
  const passwordHash = cheapHash('words of ana');
  const grants = [{ role: 'viewer' as const, policies: ['inside'] }];
  world = await startWorld({
    clock: heldClock(),
    policies: () => [aPolicy('inside'), aPolicy('outside')],
    access: () => ({ ...noAccess, users: [{ name: 'ana', passwordHash, grants }] }),
    password: null,
  });
  const [both, other] = [{ label: 'both.example' }, { label: 'other.example' }];
  await worked([ended('both', 'succeeded', both)], { hours: 3, policy: 'inside' });
  await worked([ended('both', 'failed', both), ended('other', 'failed', other)], {
    hours: 1,
    policy: 'outside',
  });
  await findIn(world.records, { at: NOON, policy: 'outside', found: [{ target: 'both' }] });
  const signIn = { name: 'ana', password: 'words of ana' };
  const cookie = sessionOf(await postForm(world.ask, world.dashboard.url, '/sign-in', signIn));

  const html = await (await world.ask('/sites', { headers: { cookie } })).text();

  expect(rowsOf(html)).toEqual(['both.example both not known not known succeeded 3 h ago –']);
  expect(html).not.toContain('outside');
});
