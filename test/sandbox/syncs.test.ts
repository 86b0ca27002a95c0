import { describe, expect, test } from 'vitest';
import type { SiteControl } from '../../src/sandbox/controls.ts';
import { startCalling } from './calling.ts';

const SECOND = 1000;

describe('a sync', () => {
  test('runs for its time and leaves a succeeded snapshot', async () => {
    const { sandbox, clock, get, post } = await startCalling({ sites: 3 });
    const [id = ''] = sandbox.siteIds();
    sandbox.site(id).syncTakes(40 * SECOND);
    const before = (await get(`/sites/${id}`)).body.site;

    const started = await post(`/sites/${id}/sync`, { sync: { message: 'Nightly' } });
    expect(started.status).toBe(200);
    expect(started.body.sync.in_progress).toBe(true);
    const { snapshot_id } = started.body.sync;

    await clock.advance(39 * SECOND);
    expect((await get(`/sites/${id}`)).body.site.sync.in_progress).toBe(true);
    expect((await get(`/sites/${id}/snapshots/${snapshot_id}`)).body.snapshot).toMatchObject({
      status: 'in_progress',
      note: 'Nightly',
    });

    await clock.advance(SECOND);
    const after = (await get(`/sites/${id}`)).body.site;
    expect(after.sync).toMatchObject({
      in_progress: false,
      last_sync_at: '2026-11-21T12:00:40.000Z',
      last_sync_status: 'succeeded',
      last_sync_error: null,
    });
    expect(after.sync.next_sync_at > '2026-11-22').toBe(true);
    expect(after.backups.available_snapshots).toBe(before.backups.available_snapshots + 1);
    expect(after.backups.latest_snapshot).toMatchObject({ id: snapshot_id, status: 'succeeded' });
    expect((await get(`/sites/${id}/snapshots/${snapshot_id}`)).body.snapshot.status).toBe('succeeded');
  });

  test('that fails is shown on the site and its snapshot', async () => {
    const { sandbox, clock, get, post } = await startCalling({ sites: 3 });
    const [id = ''] = sandbox.siteIds();
    const before = (await get(`/sites/${id}`)).body.site;
    sandbox.site(id).failNextSync('The disk is full.');

    const { snapshot_id } = (await post(`/sites/${id}/sync`)).body.sync;
    await clock.advance(90 * SECOND);

    const { sync, backups } = (await get(`/sites/${id}`)).body.site;
    expect(sync).toMatchObject({ last_sync_status: 'failed', last_sync_error: 'The disk is full.' });
    expect(backups.available_snapshots).toBe(before.backups.available_snapshots);
    expect(backups.latest_snapshot).toMatchObject({ id: snapshot_id, status: 'failed' });
    expect((await get(`/sites/${id}/snapshots/${snapshot_id}`)).body.snapshot).toMatchObject({
      status: 'failed',
      error_message: 'The disk is full.',
    });
    await post(`/sites/${id}/sync`);
    await clock.advance(90 * SECOND);
    expect(sandbox.site(id).state().lastSyncStatus).toBe('succeeded');
  });
});

test.each<[string, number, string, (site: SiteControl) => void]>([
  ['another one runs', 409, 'sync_in_progress', (site) => site.startSync()],
  ['the site is under maintenance', 422, 'site_under_maintenance', (site) => site.underMaintenance(true)],
  ['the daily limit is reached', 422, 'daily_sync_limit_reached', (site) => site.useUpDailySyncs()],
  ['the site is disconnected', 422, 'site_disconnected', (site) => site.disconnect()],
  ['the site is locked', 422, 'site_locked', (site) => site.lock(true)],
])('a sync while %s is refused with %i', async (_, refused, code, given) => {
  const { sandbox, post } = await startCalling({ sites: 1 });
  given(sandbox.site('site-0001'));
  const { status, body } = await post('/sites/site-0001/sync');
  expect([status, body.error.code]).toEqual([refused, code]);
  expect(sandbox.journal.effects).toEqual([]);
});

describe('a site', () => {
  test('takes five syncs a day on demand, and more on the next UTC day', async () => {
    const { sandbox, clock, post } = await startCalling({ sites: 1, startsAt: '2026-11-21T22:00:00Z' });
    sandbox.site('site-0001').syncTakes(30 * SECOND);
    for (let count = 1; count <= 5; count += 1) {
      expect((await post('/sites/site-0001/sync')).status).toBe(200);
      await clock.advance(30 * SECOND);
    }
    expect((await post('/sites/site-0001/sync')).body.error.code).toBe('daily_sync_limit_reached');

    await clock.advance(2 * 3600 * SECOND);
    expect((await post('/sites/site-0001/sync')).status).toBe(200);
    expect(sandbox.journal.effectsOf('syncSite')).toHaveLength(6);
  });

  test('can be synced while its daily syncs are paused', async () => {
    const { sandbox, clock, get, post } = await startCalling({ sites: 1 });
    sandbox.site('site-0001').pause(true);
    expect((await post('/sites/site-0001/sync')).status).toBe(200);
    await clock.advance(90 * SECOND);
    const { sync } = (await get('/sites/site-0001')).body.site;
    expect(sync).toMatchObject({ paused: true, last_sync_status: 'succeeded', next_sync_at: null });
  });

  test('without backups is synced and given a snapshot id, but shows no snapshot', async () => {
    const { clock, get, post } = await startCalling();
    const [site] = (await get('/sites?filters[backups:eq]=false&filters[connection_status:eq]=connected'))
      .body.sites;
    const started = await post(`/sites/${site.id}/sync`);
    expect(started.body.sync.snapshot_id).not.toBe('');
    await clock.advance(90 * SECOND);
    const after = (await get(`/sites/${site.id}`)).body.site;
    expect(after.sync.last_sync_status).toBe('succeeded');
    expect(after.backups).toMatchObject({ latest_snapshot: null, available_snapshots: 0 });
  });

  test('that is deleted during its sync does not come back', async () => {
    const { clock, get, post, remove } = await startCalling({ sites: 1 });
    await post('/sites/site-0001/sync');
    expect((await remove('/sites/site-0001')).status).toBe(204);
    await clock.advance(90 * SECOND);
    expect((await get('/sites/site-0001')).status).toBe(404);
    expect((await get('/sites')).body.sites).toEqual([]);
  });
});

test('with a speed of 60 a sync of a minute is over in a second', async () => {
  const { sandbox, clock, post } = await startCalling({ sites: 1, speed: 60 });
  sandbox.site('site-0001').syncTakes(60 * SECOND);
  await post('/sites/site-0001/sync');
  await clock.advance(999);
  expect(sandbox.site('site-0001').state().syncInProgress).toBe(true);
  await clock.advance(1);
  expect(sandbox.site('site-0001').state().syncInProgress).toBe(false);
});
