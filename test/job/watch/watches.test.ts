/** How followed work is judged by what the service shows of it. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { GoneError, RejectedError } from '../../../src/client/errors.ts';
import type { TimeBounds } from '../../../src/clock.ts';
import type { Item } from '../../../src/contract/operations.ts';
import type { Api } from '../../../src/job/api.ts';
import { type SyncWatch, syncWatch } from '../../../src/job/watch/sync.ts';
import { type TaskWatch, taskWatch } from '../../../src/job/watch/task.ts';
import { type Sandbox, startSandbox } from '../../../src/sandbox/sandbox.ts';
import { type HeldClock, heldClock } from '../../support/held-clock.ts';

const SINCE = Date.parse('2026-11-21T02:00:00Z');
const at = (seconds: number) => new Date(SINCE + seconds * 1_000).toISOString();
/** A time of the service that is known to the millisecond. */
const exactly = (ms: number): TimeBounds => ({ earliest: ms, latest: ms });

describe('a task', () => {
  const watch: TaskWatch = { kind: 'task', taskId: 't-1', since: SINCE };
  const judge = (status: string, of: TaskWatch = watch) =>
    taskWatch.evaluate(of, { id: 't-1', status } as Item<'listTasks'>, exactly(SINCE));

  test.each<[string, object]>([
    ['completed', { is: 'done', reason: 'done' }],
    ['failed', { is: 'failed', reason: 'task-failed' }],
    ['aborted', { is: 'failed', reason: 'task-aborted' }],
    ['cancelled', { is: 'failed', reason: 'task-cancelled' }],
    ['queued', { is: 'running' }],
    ['initializing', { is: 'running' }],
    ['running', { is: 'running' }],
    // An unknown state is not taken for an end.
    ['archived', { is: 'unclear' }],
  ])('that is %s is judged as %j', (status, verdict) => {
    expect(judge(status)).toEqual(verdict);
  });

  test('is adopted when another client had started it', () => {
    expect(judge('completed', { ...watch, adopted: true })).toEqual({ is: 'done', reason: 'adopted' });
  });

  test('that failed is reported with the step that failed, when it is polled', async () => {
    const details = {
      sites: [
        {
          steps: [
            { type: 'backup', status: 'completed' },
            { type: 'update_plugin', status: 'failed' },
          ],
        },
      ],
    };
    const api = {
      showTask: async () => ({ task: { id: 't-1', status: 'failed', details } }),
    } as unknown as Api;
    expect(await taskWatch.poll(api, watch, exactly(SINCE))).toEqual({
      is: 'failed',
      reason: 'task-failed',
      detail: 'The step update_plugin failed.',
    });
  });

  test.each([
    ['task-failed', 'failed', { message: 'The disk is full' }, 'At the step upload: The disk is full.'],
    ['task-aborted', 'aborted', {}, 'The step upload was aborted.'],
    ['task-failed', 'completed', {}, undefined],
  ] as const)(
    'that ended badly (%s) is explained by its step that %s',
    async (reason, status, error, detail) => {
      const details = { sites: [{ steps: [{ type: 'upload', status, error }] }] };
      const api = { showTask: async () => ({ task: { id: 't-1', status: 'failed', details } }) };
      const end = { is: 'failed', reason } as const;
      expect(await taskWatch.explain?.(api as unknown as Api, watch, end)).toEqual({
        ...end,
        ...(detail === undefined ? {} : { detail }),
      });
    },
  );

  test('that was cancelled, or that the service no longer knows, is not explained', async () => {
    const api = { showTask: () => Promise.reject(new GoneError('showTask')) } as unknown as Api;
    const failed = { is: 'failed', reason: 'task-failed' } as const;
    expect(await taskWatch.explain?.(api, watch, failed)).toEqual(failed);
    const cancelled = { is: 'failed', reason: 'task-cancelled' } as const;
    expect(await taskWatch.explain?.({} as Api, watch, cancelled)).toEqual(cancelled);
  });

  test('that the service no longer knows is lost, and its target is not reported as gone', async () => {
    const api = { showTask: () => Promise.reject(new GoneError('showTask')) } as unknown as Api;
    expect(await taskWatch.poll(api, watch, exactly(SINCE))).toMatchObject({ is: 'lost' });
  });

  test('is matched by its id, in one list of everything that changed since', () => {
    const { sweep, keyOf, keyOfItem } = taskWatch;
    expect(sweep.query([watch], at(-90))).toEqual({
      filters: { updated_at: { gte: at(-90) } },
      sort: 'updated_at,desc',
    });
    expect(keyOf(watch)).toBe('t-1');
    expect(keyOfItem({ id: 't-1', status: 'running' } as Item<'listTasks'>)).toBe('t-1');
  });
});

describe('a sync', () => {
  const watch: SyncWatch = { kind: 'sync', siteId: 's', snapshotId: 'snap-1', since: SINCE };
  const { snapshotId: _none, ...withoutSnapshot } = watch;
  type Shown = Pick<Item<'listSites'>, 'sync' | 'backups'>;
  const judge = (site: Shown, of: SyncWatch = watch) =>
    syncWatch.evaluate(of, { id: 's', ...site } as Item<'listSites'>, exactly(SINCE));
  const snapshot = (status: string, id = 'snap-1') =>
    ({ enabled: true, latest_snapshot: { id, status, created_at: at(1) } }) as Shown['backups'];
  const over = {
    in_progress: false,
    last_sync_at: at(60),
    last_sync_status: 'succeeded',
    last_sync_error: null,
  };

  test('is running while the site shows it', () => {
    expect(judge({ sync: { ...over, in_progress: true }, backups: snapshot('in_progress') })).toEqual({
      is: 'running',
    });
  });

  test('is done when its snapshot succeeded', () => {
    expect(judge({ sync: over, backups: snapshot('succeeded') })).toEqual({ is: 'done', reason: 'done' });
  });

  test('has failed when its snapshot failed, with the message of the site', () => {
    const failed = { ...over, last_sync_error: 'Disk full.' };
    expect(judge({ sync: failed, backups: snapshot('failed') })).toEqual({
      is: 'failed',
      reason: 'task-failed',
      detail: 'Disk full.',
    });
    expect(judge({ sync: over, backups: snapshot('failed') })).toMatchObject({
      detail: 'The snapshot failed, without a message.',
    });
    expect(judge({ sync: over, backups: snapshot('cancelled') })).toEqual({
      is: 'failed',
      reason: 'task-cancelled',
    });
  });

  test('is unclear when another sync has made a snapshot since: only its own snapshot shows its result', () => {
    expect(judge({ sync: over, backups: snapshot('succeeded', 'snap-2') })).toEqual({ is: 'unclear' });
  });

  test('of a site without backups is judged by the site’s own record of its last sync', () => {
    const none = { enabled: false } as Shown['backups'];
    expect(judge({ sync: over, backups: none })).toEqual({ is: 'done', reason: 'done' });
    const failed = { ...over, last_sync_status: 'failed', last_sync_error: null };
    expect(judge({ sync: failed, backups: none })).toEqual({
      is: 'failed',
      reason: 'task-failed',
      detail: 'The sync failed, without a message.',
    });
    expect(judge({ sync: { ...over, last_sync_at: at(-10) }, backups: none })).toEqual({ is: 'unclear' });
  });

  test('that was adopted has no snapshot of its own, and ends as adopted when the site’s sync is over', () => {
    const adopted = { ...withoutSnapshot, adopted: true as const };
    expect(judge({ sync: over, backups: snapshot('succeeded', 'snap-9') }, adopted)).toEqual({
      is: 'done',
      reason: 'adopted',
    });
  });

  test('of which nothing is shown is unclear', () => {
    expect(judge({})).toEqual({ is: 'unclear' });
    expect(judge({ sync: { in_progress: false } as Shown['sync'] })).toEqual({ is: 'unclear' });
  });

  test('is matched by its site, in one list of all sites synced since', () => {
    expect(syncWatch.sweep.query([watch], at(-30))).toEqual({
      filters: { last_sync_at: { gte: at(-30) } },
      sort: 'last_sync_at,desc',
    });
    expect(syncWatch.keyOf(watch)).toBe('s');
  });
});

describe('a sync that is polled', () => {
  let sandbox: Sandbox;
  let clock: HeldClock;
  const siteId = 'site-0001';
  beforeEach(async () => {
    clock = heldClock();
    sandbox = await startSandbox({ sites: 3, clock, rateLimit: 0 });
  });
  afterEach(() => sandbox.stop());

  /** The few operations that a poll may use, without a client around them. */
  const get = async (path: string) => {
    const response = await fetch(`${sandbox.url}${path}`, {
      headers: { authorization: `Bearer ${sandbox.token}` },
    });
    return response.json() as unknown;
  };
  const api = {
    showSite: ({ site_id }: { site_id: string }) => get(`/sites/${site_id}`),
    showSiteSnapshot: (ids: { site_id: string; snapshot_id: string }) =>
      get(`/sites/${ids.site_id}/snapshots/${ids.snapshot_id}`),
  } as unknown as Api;
  const withoutSnapshots = {
    ...api,
    showSiteSnapshot: () => Promise.reject(new GoneError('showSiteSnapshot')),
  };
  const lookWith = (by: Api, watch: Partial<SyncWatch>) => {
    const { since = clock.now() } = watch;
    return syncWatch.poll(by, { kind: 'sync', siteId, since, ...watch }, exactly(since));
  };
  const look = (watch: Partial<SyncWatch>) => lookWith(api, watch);

  test('is followed to the end of its snapshot', async () => {
    const since = clock.now();
    const snapshotId = sandbox.site(siteId).startSync();
    expect(await look({ snapshotId, since })).toEqual({ is: 'running' });

    sandbox.site(siteId).finishSync();

    expect(await look({ snapshotId, since })).toEqual({ is: 'done', reason: 'done' });
  });

  test('is judged by its own snapshot even if another sync came after it', async () => {
    const since = clock.now();
    sandbox.site(siteId).failNextSync('Disk full.');
    const snapshotId = sandbox.site(siteId).startSync();
    sandbox.site(siteId).finishSync();
    await clock.advance(1_000);
    sandbox.site(siteId).startSync();
    sandbox.site(siteId).finishSync();

    expect(await look({ snapshotId, since })).toMatchObject({ is: 'failed', detail: 'Disk full.' });
  });

  test('is judged by its site when its snapshot is no longer shown', async () => {
    const since = clock.now();
    sandbox.site(siteId).startSync();
    sandbox.site(siteId).finishSync();

    expect(await lookWith(withoutSnapshots, { snapshotId: 'snap-1', since })).toEqual({
      is: 'done',
      reason: 'done',
    });
  });

  test('that left no trace is not considered done because an older one was', async () => {
    sandbox.site(siteId).startSync();
    sandbox.site(siteId).finishSync();
    await clock.advance(60 * 60_000);

    expect(await look({})).toEqual({ is: 'unclear' });
    expect(await look({ adopted: true, since: clock.now() - 2 * 60 * 60_000 })).toEqual({
      is: 'done',
      reason: 'adopted',
    });
  });

  test('is lost when the service has no snapshot of it, does not sync the site, and has ended no sync since', async () => {
    const since = clock.now() + 60 * 60_000;
    const lookWithout = (watch: Partial<SyncWatch>) => lookWith(withoutSnapshots, { since, ...watch });

    expect(await lookWithout({ snapshotId: 'snap-1' })).toEqual({
      is: 'lost',
      detail:
        'The service no longer knows the sync: its snapshot is not found (HTTP 404), the site is not syncing, and no sync of it has ended since.',
    });
    // A sync that was running when it was adopted, and now neither runs nor has ended.
    expect(await lookWithout({ adopted: true })).toMatchObject({ is: 'lost' });

    // A site without backups has no snapshots to list.
    const refused = {
      ...api,
      showSiteSnapshot: () => Promise.reject(new RejectedError('showSiteSnapshot', 422, { message: 'no' })),
    };
    expect(await lookWith(refused, { since, snapshotId: 'snap-1' })).toMatchObject({ is: 'lost' });

    sandbox.site(siteId).startSync();
    expect(await lookWithout({ snapshotId: 'snap-1' })).toEqual({ is: 'running' });
  });

  test('is not lost but unclear when the service does not show when it last synced the site', async () => {
    const untold = {
      showSite: async () => ({ site: { id: siteId, sync: { in_progress: false } } }),
      showSiteSnapshot: () => Promise.reject(new GoneError('showSiteSnapshot')),
    } as unknown as Api;
    expect(await lookWith(untold, { snapshotId: 'snap-1' })).toEqual({ is: 'unclear' });
  });

  test('is judged by its snapshot when the site does not show its syncs', async () => {
    const since = clock.now();
    const snapshotId = sandbox.site(siteId).startSync();
    const silent = { ...api, showSite: async () => ({ site: { id: siteId } }) } as unknown as Api;
    expect(await lookWith(silent, { snapshotId, since })).toEqual({ is: 'running' });

    sandbox.site(siteId).finishSync();

    expect(await lookWith(silent, { snapshotId, since })).toEqual({ is: 'done', reason: 'done' });
    expect(await lookWith(silent, { adopted: true, since })).toEqual({ is: 'unclear' });
  });
});

test('a sweep continues from the service’s time of the last change', () => {
  expect(taskWatch.movedAt?.({ updated_at: at(50) } as never)).toBe(at(50));
  expect(syncWatch.movedAt?.({ sync: { last_sync_at: at(50) } } as never)).toBe(at(50));
});
