import { expect, test } from 'vitest';
import { startCalling } from './calling.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

test('daily syncs that no request observed are in the snapshots when they are first requested', async () => {
  const { sandbox, clock, get } = await startCalling({ sites: 1 });
  const before = (await get('/sites/site-0001')).body.site;
  await clock.advance(3 * DAY);
  const { sync, backups } = (await get('/sites/site-0001')).body.site;
  expect(backups.available_snapshots).toBe(before.backups.available_snapshots + 3);

  const { snapshots } = sandbox.site('site-0001').state();
  const daily = snapshots.slice(-3);
  expect(daily.map(({ status }) => status)).toEqual(['succeeded', 'succeeded', 'succeeded']);
  expect(daily.map(({ createdAt }) => createdAt.slice(11, 17))).toEqual(
    Array(3).fill(`${sync.daily_sync_time.replace('Z', '')}:`),
  );
  expect(new Set(snapshots.map(({ id }) => id)).size).toBe(snapshots.length);
  expect(backups.latest_snapshot.id).toBe(daily.at(-1)?.id);
  expect(sandbox.journal.effects).toEqual([]);
});

test('a daily sync that is observed while it runs, or fails, is shown as it was', async () => {
  const { sandbox, clock } = await startCalling({ sites: 1 });
  const control = sandbox.site('site-0001');
  control.syncTakes(10 * 60_000);
  control.failNextSync('The disk is full.');
  while (!control.state().syncInProgress) await clock.advance(5 * 60_000);
  expect(control.state().snapshots.at(-1)?.status).toBe('in_progress');
  await clock.advance(10 * 60_000);
  expect(control.state()).toMatchObject({ syncInProgress: false, lastSyncError: 'The disk is full.' });
  expect(control.state().snapshots.at(-1)?.status).toBe('failed');
  await clock.advance(DAY);
  expect(control.state().lastSyncStatus).toBe('succeeded');
});

test('a sync on demand replaces the daily sync of its day', async () => {
  const { sandbox, clock, post } = await startCalling({ sites: 1 });
  await post('/sites/site-0001/update', { site: { sync: { daily_sync_time: '20:00Z' } } });
  const count = sandbox.site('site-0001').state().snapshots.length;
  await post('/sites/site-0001/sync');
  await clock.advance(11 * HOUR);
  expect(sandbox.site('site-0001').state().snapshots).toHaveLength(count + 1);
  await clock.advance(DAY);
  expect(sandbox.site('site-0001').state().snapshots).toHaveLength(count + 2);
});

test('a site that is paused, disconnected or under maintenance at its time is skipped, and synced again afterwards', async () => {
  const { sandbox, clock } = await startCalling({ sites: 3 });
  const site = (number: number) => sandbox.site(`site-000${number}`);
  const [paused, maintained, away] = [site(1), site(2), site(3)];
  const lasts = () => [paused, maintained, away].map((one) => one.state().lastSyncAt ?? '');
  const before = lasts();
  paused.pause(true);
  maintained.underMaintenance(true);
  away.disconnect();
  await clock.advance(2 * DAY);
  expect(lasts()).toEqual(before);
  paused.pause(false);
  maintained.underMaintenance(false);
  away.connect();
  await clock.advance(DAY + HOUR);
  for (const last of lasts()) expect(last > '2026-11-23T12').toBe(true);
});

test('no site of the fleet syncs by itself in the first eight hours', async () => {
  const { sandbox, clock } = await startCalling({ sites: 200 });
  const lasts = () => sandbox.siteIds().map((id) => sandbox.site(id).state().lastSyncAt);
  const before = lasts();
  await clock.advance(8 * HOUR - 60_000);
  expect(lasts()).toEqual(before);
  await clock.advance(DAY);
  expect(lasts()).not.toEqual(before);
});

test('a day of ten thousand sites passes within one request', async () => {
  const { clock, get } = await startCalling({ sites: 10_000 });
  expect((await get('/sites?perPage=1')).body.meta.pagination.totalItems).toBe(10_000);
  await clock.advance(DAY);
  const { body } = await get('/sites?perPage=1&filters[last_sync_at:gte]=2026-11-21T12:00:01Z');
  expect(body.meta.pagination.totalItems).toBeGreaterThan(8_000);
});
