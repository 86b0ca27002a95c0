import { describe, expect, test } from 'vitest';
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

  test('that fails says so on the site and on its snapshot', async () => {
    const { sandbox, clock, get, post } = await startCalling({ sites: 3 });
    const [id = ''] = sandbox.siteIds();
    sandbox.site(id).failNextSync('The disk is full.');

    const { snapshot_id } = (await post(`/sites/${id}/sync`)).body.sync;
    await clock.advance(90 * SECOND);

    const { sync } = (await get(`/sites/${id}`)).body.site;
    expect(sync).toMatchObject({ last_sync_status: 'failed', last_sync_error: 'The disk is full.' });
    expect((await get(`/sites/${id}/snapshots/${snapshot_id}`)).body.snapshot).toMatchObject({
      status: 'failed',
      error_message: 'The disk is full.',
    });
    await post(`/sites/${id}/sync`);
    await clock.advance(90 * SECOND);
    expect(sandbox.site(id).state().lastSyncStatus).toBe('succeeded');
  });
});
