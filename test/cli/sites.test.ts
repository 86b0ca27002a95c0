/** `caretaker sites`: all sites of the accounts, from the first minute on. */
import { expect, test } from 'vitest';
import { SiteFacts } from '../../src/records/site-store.ts';
import { NOWHERE, sandboxOfFile } from './desk-of-file.ts';

const { sandbox, desk } = await sandboxOfFile({ sites: 120, seed: 1 });

const listed = (...options: string[]) => desk.json<Record<string, unknown>[]>(['sites', ...options]);

test('before any run the sites of the account are listed, and the service is asked once', async () => {
  const { code, stdout, stderr } = await desk.run(['sites']);

  expect(code).toBe(0);
  expect(stdout.split('\n')[0]).toMatch(
    /^site +title +client +tags +last sync +state +last result +findings$/,
  );
  expect(stdout.trim().split('\n')).toHaveLength(51);
  expect(stderr).toBe('There are more. Use --limit to show more than 50.\n');
  expect(await listed('--limit', '5000')).toHaveLength(120);
  expect(sandbox.journal.countOf('listSites')).toBe(2);
});

test('filters are as those of the page and the API, and CSV has a column for each fact', async () => {
  const all = (await listed('--limit', '5000')) as {
    id: string;
    connection: string;
    client: { name: string } | null;
    backups_enabled: boolean;
    latest_snapshot: { status: string } | null;
  }[];
  const client = all.find((one) => one.client)?.client?.name ?? '';
  const idsOf = (those: typeof all) => those.map(({ id }) => id);
  const disconnected = idsOf(all.filter(({ connection }) => connection === 'disconnected'));
  expect(disconnected.length).toBeGreaterThan(0);

  expect((await listed('--connection', 'disconnected')).map(({ id }) => id)).toEqual(disconnected);
  expect((await listed('--client', client)).map(({ id }) => id)).toEqual(
    idsOf(all.filter((one) => one.client?.name === client)),
  );
  expect(await listed('--outcome', 'failed')).toEqual([]);
  const csv = await desk.run(['sites', '--text', all[0]?.id ?? '', '-o', 'csv']);
  const columns = csv.stdout.split('\r\n')[0]?.split(',') ?? [];
  expect(columns.slice(0, 4)).toEqual(['account', 'id', 'url', 'title']);
  expect(columns.map((column) => column.split('.')[0])).toEqual(
    expect.arrayContaining(Object.keys(SiteFacts.shape)),
  );
  // No snapshot is as old as this.
  expect((await listed('--not-backed-up', '36500d')).map(({ id }) => id)).toEqual(
    idsOf(all.filter((one) => !one.backups_enabled || one.latest_snapshot?.status !== 'succeeded')),
  );
  expect((await desk.run(['sites', '--not-backed-up', '7d'])).stdout).toMatch(
    / last backup .*\n(.*\n)*.* off /,
  );
  expect((await desk.run(['sites', '--account', 'renamed', '--not-synced', '3d'])).stderr).toContain(
    'There is no account "renamed"',
  );
  expect(await desk.run(['sites', '--not-synced', 'long'])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('not_synced must be a duration'),
  });
});

test('a site whose last backup or sync is not shown is listed as not known, not as one that has none', async () => {
  const { records } = await desk.keepRedis();
  const url = 'https://shop.example';
  await records.sites.replace('default', Date.now(), [
    { id: 'none', title: 'None', url, backups_enabled: true, latest_snapshot: null, last_sync_at: null },
    { id: 'not-shown', title: 'Not shown', url },
    { id: 'without-time', title: 'Without time', url, latest_snapshot: { status: 'succeeded' } },
  ]);
  const { stdout } = await desk.run(['sites', '--not-backed-up', '7d']);
  expect(stdout).toMatch(/ None +none\n/);
  expect(stdout).toMatch(/ Not shown +not known\n/);
  expect(stdout).toMatch(/ Without time +not known\n/);
  const synced = await desk.run(['sites', '--not-synced', '7d']);
  expect(synced.stdout).toMatch(/ None +never\n/);
  expect(synced.stdout).toMatch(/ Not shown +not known\n/);
});

test('a site is shown with how its latest snapshot ended, and that its backups are off', async () => {
  const { records } = await desk.keepRedis();
  const latest_snapshot = { created_at: '2026-11-20T02:00:00.000Z', status: 'failed' };
  const site = { id: 'site-1', title: 'Shop', url: 'https://shop.example' };
  await records.sites.replace('default', Date.now(), [{ ...site, backups_enabled: false, latest_snapshot }]);
  const { stdout } = await desk.run(['sites', 'show', 'site-1']);
  expect(stdout).toMatch(/^ +backups +off\n +latest snapshot +2026-11-20 02:00Z failed$/m);
});

test('a service that does not answer leaves the list of before, with its time and the reason', async () => {
  const { records } = await desk.keepRedis();
  const site = { id: 'site-1', title: 'Shop', url: 'https://shop.example', last_sync_at: null };
  await records.sites.replace('default', Date.now() - 3_600_000, [site]);
  sandbox.outage.begin('status-503');
  const { code, stdout, stderr } = await desk.run(['sites']);
  sandbox.outage.end();
  expect(code).toBe(0);
  expect(stdout.split('\n')[1]).toMatch(/^https:\/\/shop\.example +Shop +never$/);
  expect(stderr).toMatch(
    /^The sites of the account "default" are those of \S+ \S+Z: listSites: the service gave no usable answer/,
  );
});

test('when the service was never reached, an empty list is no success', async () => {
  await (await desk.keepRedis()).redis.store.flushall();
  const { code, stdout, stderr } = await desk.run(['sites', '--not-synced', '3d', '--json'], NOWHERE);
  expect({ code, sites: JSON.parse(stdout) }).toEqual({ code: 3, sites: [] });
  expect(stderr).toContain('The sites of the account "default" were never read:');
});
