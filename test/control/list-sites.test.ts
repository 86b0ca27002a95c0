/** `sites.list`: all sites of the accounts as the service last showed them, and when it is asked for them. */
import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { carryOut } from '../../src/control/carry-out.ts';
import { listSitesCommand } from '../../src/control/commands/list-sites.ts';
import type { SiteFacts } from '../../src/records/site-store.ts';
import { aPolicy, aRun, ended } from '../dashboard/world.ts';
import { startWorld, type World, type WorldOptions } from '../support/caretaker.ts';
import { findIn } from '../support/findings.ts';
import { workedOn } from '../support/worked-on.ts';
import { worldOfTest } from '../support/world-of-test.ts';
import { actor, viewer } from './acting.ts';

const MINUTE = 60_000;
type Input = Parameters<typeof carryOut<typeof listSitesCommand.input, object, object>>[2];
type Grants = Parameters<typeof carryOut>[3]['principal']['grants'];

let world: World;
const start = async (options: WorldOptions = {}) => {
  world = await worldOfTest({ sites: 3, speedUp: 1, work: false, ...options });
};

async function list(
  input: Input = {},
  {
    grants = [{ role: 'viewer' }],
    ...deps
  }: { grants?: Grants; maxReadingMs?: number; accounts?: string[] } = {},
) {
  const { caretaker } = world;
  const settings = deps.accounts
    ? { accounts: Object.fromEntries(deps.accounts.map((name) => [name, {}])) }
    : caretaker.settings;
  // However slow the machine is, the reading ends.
  const page = await carryOut(
    listSitesCommand,
    { maxReadingMs: 1e9, ...caretaker, ...deps, settings },
    input,
    actor(grants),
  );
  const [of] = page.accounts;
  return {
    ...page,
    ids: page.sites.map(({ target }) => target),
    readAt: of?.reading?.at,
    notNewer: of?.notNewer,
  };
}

const asked = () => world.sandbox.journal.countOf('listSites');
/** A complete reading of an account in which nothing is but these sites, a moment ago. */
const recorded = (...sites: (Partial<SiteFacts> & { id: string })[]) =>
  world.caretaker.records.sites.replace(
    'default',
    world.clock.now(),
    sites.map((site) => ({ title: '', url: `https://${site.id}.example`, ...site })),
  );
const worked = (
  id: string,
  targets: Parameters<typeof workedOn>[2],
  changes: Parameters<typeof aRun>[0] = {},
) => workedOn(world.caretaker.records, aRun({ id, createdAt: world.clock.now(), ...changes }), targets);

test('every site of the account is listed, also those that no run has worked on', async () => {
  await start();
  const [first = ''] = world.sandbox.siteIds();
  await worked('sync.1', [ended(first, 'failed', { site: first })]);

  const { sites, found } = await list();

  expect(found).toBe(3);
  expect(sites.map(({ target, last }) => [target, last?.target.outcome])).toEqual(
    expect.arrayContaining(world.sandbox.siteIds().map((id) => [id, id === first ? 'failed' : undefined])),
  );
});

test('however many ask, the service is asked once in five minutes, one request for 100 sites', async () => {
  await start({ sites: 150 });
  await Promise.all([list(), list({ client: 'none' }), list({ account: 'default' })]);
  expect(asked()).toBe(2);
  world.clock.leap(4 * MINUTE);
  await list();
  expect(asked()).toBe(2);
  world.clock.leap(2 * MINUTE);
  await list();
  expect(asked()).toBe(4);
});

test('two processes that are asked at the same time read the sites once', async () => {
  await start();
  const another = await world.another({ work: false });
  const [here, there] = await Promise.all([
    list(),
    carryOut(listSitesCommand, { ...another, maxReadingMs: 1e9 }, {}, viewer),
  ]);
  expect([here.found, there.found]).toEqual([3, 3]);
  expect(asked()).toBe(1);
});

test('a page that is brought up to date asks for nothing', async () => {
  await start();
  const { notNewer, readAt } = await list({}, { maxReadingMs: 0 });
  expect([asked(), notNewer, readAt]).toEqual([0, undefined, undefined]);
});

test('a service that shows only a part changes nothing, and the list says why it is not newer', async () => {
  await start({ sites: 150 });
  await list();
  world.clock.leap(6 * MINUTE);
  world.sandbox.failNext({ operation: 'listSites', after: 1, times: 9 }, 'status-503');
  const later = await list();
  expect(later.found).toBe(150);
  expect(later.notNewer).toContain('the service gave no usable answer');
  // For a minute nobody asks again.
  const before = asked();
  await list();
  expect(asked()).toBe(before);
});

test.each(['absent-fields', 'unknown-values', 'other-timestamps', 'numbers-as-text'] as const)(
  'every site is listed although the service answers with %s',
  async (fault) => {
    await start({ sites: 30 });
    world.sandbox.outage.begin(fault);
    const { found, sites, notNewer } = await list();
    expect(notNewer).toBeUndefined();
    expect(found).toBe(30);
    for (const { site } of sites)
      if (site?.last_sync_at) expect(new Date(site.last_sync_at).toISOString()).toBe(site.last_sync_at);
  },
);

test('a list of which sites are missing is no reading', async () => {
  await start({ sites: 150 });
  world.sandbox.outage.begin('unstable-order');
  const { notNewer, readAt } = await list();
  expect(notNewer).toMatch(/is incomplete: 100 of the 150 items/);
  expect(readAt).toBeUndefined();
});

test('who does not want to wait longer gets what is known, and that the reading goes on', async () => {
  await start();
  const { locks } = world.caretaker.records;
  await locks.acquire('sites-default', 'another process', MINUTE);

  const { sites, notNewer } = await list({}, { maxReadingMs: 1 });

  expect(sites).toEqual([]);
  expect(notNewer).toBe('The service has not shown all of them yet; the reading goes on.');
  await locks.release('sites-default', 'another process');
  expect((await list()).found).toBe(3);
});

test('an account larger than its budget is read over several minutes, and is complete at the end', async () => {
  await start({ sites: 350, budget: { requestsPerMinute: 4, reserve: 0.5 } });
  const first = await list();
  expect(first.notNewer).toMatch(/^The request budget of the account "default" is spent until/);
  expect(first.readAt).toBeUndefined();
  for (let minutes = 0; minutes < 5 && !(await list()).found; minutes += 1) world.clock.leap(61_000);
  expect((await list()).found).toBe(350);
  // A page that was read is not read again.
  expect(asked()).toBeLessThan(9);
});

test('an account that was never read says so, and is not an empty one', async () => {
  await start();
  world.sandbox.outage.begin('status-503');
  await worked('sync.1', [ended('site-7', 'succeeded', { label: 'https://seven.example', site: 'site-7' })]);
  const { sites, ids, found, readAt: read } = await list();
  expect({ ids, found, read }).toEqual({
    ids: ['site-7'],
    found: undefined,
    read: undefined,
  });
  expect(sites[0]).not.toHaveProperty('readAt');
});

test('neither credentials nor email addresses of clients are stored', async () => {
  await start({ sites: 5 });
  await list();
  const redis = new Redis({ path: world.redis.socketPath });
  const all = await redis.hgetall('{caretaker}:sites:default');
  redis.disconnect();
  expect(Object.keys(all)).toHaveLength(5);
  expect(JSON.stringify(all)).not.toMatch(/@|password|http_auth/);
});

test('an account that has no site any more has an empty list, and the record of one that is gone from the settings goes too', async () => {
  await start();
  await list();
  await recorded();
  expect(await list()).toMatchObject({ ids: [], found: 0 });
  await list({}, { accounts: ['other'] });
  expect([...(await world.caretaker.records.sites.readings()).keys()]).toEqual([]);
});

const DAY = 86_400_000;
const daysAgo = (days: number) => new Date(world.clock.now() - days * DAY).toISOString();
const fleet = () =>
  recorded(
    {
      id: 'a',
      title: 'Shop',
      client: { id: 'c1', name: 'Acme' },
      last_sync_at: daysAgo(0.5),
      connection: 'connected',
    },
    { id: 'b', tags: [{ id: '7', name: 'VIP' }], last_sync_at: daysAgo(4), connection: 'disconnected' },
    // The last sync failed; its latest snapshot is the last that is known to have succeeded.
    {
      id: 'c',
      ...{ last_sync_at: daysAgo(0.1), last_sync_status: 'failed' },
      latest_snapshot: { created_at: daysAgo(5), status: 'succeeded' },
    },
    { id: 'd', last_sync_at: null, client: null },
    // The service does not show its syncs.
    { id: 'e' },
  );

describe('of a fleet', () => {
  beforeAll(async () => {
    world = await startWorld({ sites: 3, speedUp: 1, work: false });
    await fleet();
    await worked('sync.1', [ended('a', 'failed'), ended('b', 'succeeded')]);
    // What a check of updates found about a site counts for the site.
    const found = [{ target: 'b' }, { target: 'site:c' }];
    await findIn(world.caretaker.records, { at: world.clock.now(), found });
  });
  afterAll(() => world.stop());

  test.each([
    [{}, ['a', 'b', 'c', 'd', 'e']],
    [{ order: 'descending' as const }, ['e', 'd', 'c', 'b', 'a']],
    [{ text: 'SHOP' }, ['a']],
    [{ client: 'acme' }, ['a']],
    [{ client: ['c1', 'other'] }, ['a']],
    [{ tag: 'vip' }, ['b']],
    [{ tag: '7' }, ['b']],
    [{ connection: 'disconnected' as const }, ['b']],
    [{ not_synced: '3d' }, ['b', 'c', 'd', 'e']],
    [{ not_synced: '4d12h' }, ['c', 'd', 'e']],
    [{ account: 'other' }, []],
    [{ outcome: 'failed' as const }, ['a']],
    [{ outcome: 'none' as const }, ['c', 'd', 'e']],
    [{ findings: 'true' as const }, ['b', 'c']],
    [{ findings: 'false' as const, outcome: 'none' as const }, ['d', 'e']],
  ])('with %j only these sites are listed', async (input, ids) => {
    expect((await list(input)).ids).toEqual(ids);
    expect(asked()).toBe(0);
  });
});

test('only a site with a successful backup that is recent, and backups that are on, is left out as backed up', async () => {
  await start();
  const snapshot = (days: number, status = 'succeeded') => ({
    latest_snapshot: { created_at: daysAgo(days), status },
  });
  await recorded(
    { id: 'backed-up', backups_enabled: true, ...snapshot(6) },
    // Whether its backups are on is not shown.
    { id: 'backed-up-2', ...snapshot(6) },
    { id: 'failed', backups_enabled: true, ...snapshot(1, 'failed') },
    { id: 'never', backups_enabled: true, latest_snapshot: null },
    { id: 'not-shown' },
    { id: 'off', backups_enabled: false, ...snapshot(1) },
    { id: 'old', backups_enabled: true, ...snapshot(8) },
    { id: 'running', backups_enabled: true, ...snapshot(0, 'in_progress') },
    { id: 'without-time', latest_snapshot: { status: 'succeeded' } },
  );

  expect((await list({ not_backed_up: '7d' })).ids).toEqual([
    ...['failed', 'never', 'not-shown', 'off', 'old', 'running', 'without-time'],
  ]);
  expect((await list({ not_backed_up: '9d' })).ids).not.toContain('old');
});

test('of an account that was never read, those without a sync or backup are the sites that are known by runs', async () => {
  await start();
  world.sandbox.outage.begin('status-503');
  await worked('sync.1', [ended('a', 'succeeded', { site: 'a' }), ended('a/note-1', 'succeeded')]);
  await worked('sync.2', [ended('b', 'succeeded', { site: 'b' })], { account: 'no longer there' });

  for (const filter of ['not_synced', 'not_backed_up']) {
    expect((await list({ [filter]: '7d' })).ids).toEqual(['a']);
    expect((await list({ [filter]: '7d', kind: 'other' })).ids).toEqual([]);
  }
});

test('what a run worked on and the account has no longer is listed as such, and other targets apart', async () => {
  await start();
  await recorded({ id: 'a' });
  await worked('sync.1', [ended('gone', 'succeeded', { label: 'https://gone.example', site: 'gone' })]);
  await worked('copies.1', [ended('copy-1', 'succeeded', { label: 'https://copy.example', site: 'a' })]);
  await worked('notes.1', [ended('a/note-1', 'succeeded', { label: 'Note', site: 'a' })]);
  // A check changes no site, so only its policy shows what its targets are.
  await worked('clients.1', [ended('client-1', 'skipped', { label: 'Acme' })], {
    policyJson: JSON.stringify({
      ...aPolicy('clients'),
      job: 'check',
      select: { filters: {}, from: 'listClients' },
    }),
  });

  const { sites, ids, found } = await list();

  expect(ids).toEqual(['a', 'gone']);
  expect(found).toBe(1);
  expect(sites[1]?.site).toBeUndefined();
  expect((await list({ kind: 'other' })).ids).toEqual(['client-1', 'a/note-1', 'copy-1']);
});

test('every site is on exactly one page, also when sites come and go between the pages', async () => {
  await start();
  const some = Array.from({ length: 25 }, (_, at) => ({ id: `s-${String(at).padStart(2, '0')}` }));
  await recorded(...some);
  const first = await list({ limit: 10 });
  await recorded(...some.slice(5), { id: 's-00a' });
  const second = await list({ limit: 10, after: first.next });
  const third = await list({ limit: 10, after: second.next });
  expect([...first.ids, ...second.ids, ...third.ids]).toEqual(some.map(({ id }) => id));
  expect(third.next).toBeUndefined();
  await expect(list({ after: 'nothing' })).rejects.toThrow(
    'The page (after) must be the "next" of an earlier page.',
  );
});

test('who sees only some policies sees the sites that their runs worked on, with those results alone', async () => {
  await start();
  await recorded({ id: 'both', client: { id: 'c1', name: 'Acme' } }, { id: 'other' }, { id: 'none' });
  await worked('inside.1', [ended('both', 'succeeded')], { policy: 'inside' });
  await worked('outside.1', [ended('both', 'failed'), ended('other', 'failed')], { policy: 'outside' });
  const policies = () => [{ name: 'inside', account: 'default' }] as never;

  const { sites, found, names } = await list({}, {
    grants: [{ role: 'viewer', policies: ['inside'] }],
    ...{ policies },
  } as object);

  expect(sites.map(({ target, last }) => [target, last?.run.id])).toEqual([['both', 'inside.1']]);
  expect([found, names.clients]).toEqual([undefined, []]);
});
