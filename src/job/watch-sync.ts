/**
 * Following site syncs (spec 3 and 4.15), which have no task: a sync is over when `sync.in_progress` is false, and its
 * snapshot says how it went. The sweep asks for the sites synced since, newest first, so it costs pages in proportion
 * to what ended, and `backups.latest_snapshot` in the list saves a request per site.
 */
import { GoneError, RejectedError } from '../client/errors.ts';
import type { Item } from '../contract/operations.ts';
import type { Watch } from '../run/run.ts';
import { lastSyncFailed } from './find-sync.ts';
import type { Api } from './job.ts';
import { CLOCK_SLACK_MS, doneAs, type Lost, sweepFrom, type Verdict, type WatchKind } from './watch.ts';

type SyncWatch = Extract<Watch, { kind: 'sync' }>;
type Site = Item<'listSites'>;

export const syncWatch: WatchKind<SyncWatch, Site> = {
  sweep: {
    operation: 'listSites',
    query: (watches, seenTo) => ({
      filters: { last_sync_at: { gte: sweepFrom(watches, seenTo) } },
      sort: 'last_sync_at,desc',
    }),
  },
  movedAt: (site) => site.sync?.last_sync_at,
  keyOfItem: (site) => site.id,
  keyOf: (watch) => watch.siteId,
  judge,
  look,
};

function judge(watch: SyncWatch, site: Pick<Site, 'sync' | 'backups'>): Verdict {
  if (site.sync === undefined) return { is: 'unclear' };
  if (site.sync.in_progress) return { is: 'running' };
  const snapshot = site.backups?.latest_snapshot;
  if (snapshot && snapshot.id === watch.snapshotId) {
    return bySnapshot(watch, snapshot.status, site.sync.last_sync_error);
  }
  // Without Backups, or with a sync that was not ours, the site's own record of its last sync is what there is.
  const ownSnapshotExpected = watch.snapshotId !== undefined && site.backups?.enabled === true;
  if (ownSnapshotExpected || !(lastSyncMs(site.sync) >= watch.since)) return { is: 'unclear' };
  return site.backups?.enabled && snapshot?.status === 'failed'
    ? bySnapshot(watch, 'failed', site.sync.last_sync_error)
    : byLastSync(watch, site.sync);
}

/**
 * Asks for the site, and for the snapshot where that tells more. Lost is a sync that the service had, which neither runs
 * nor has ended, and of which no snapshot is shown.
 */
async function look(api: Api, watch: SyncWatch): Promise<Verdict | Lost> {
  const { site } = await api.showSite({ site_id: watch.siteId });
  if (site.sync === undefined) return { is: 'unclear' };
  if (site.sync.in_progress) return { is: 'running' };
  const endedSince = lastSyncMs(site.sync) >= watch.since - CLOCK_SLACK_MS;
  const told = watch.snapshotId !== undefined && (site.backups?.enabled === true || !endedSince);
  const shown = told ? await snapshotOf(api, watch.siteId, watch.snapshotId ?? '') : undefined;
  if (shown !== undefined && shown !== 'gone') {
    return bySnapshot(watch, shown.status, shown.error_message);
  }
  if (endedSince) return byLastSync(watch, site.sync);
  // It was running when it was started or adopted, and the service says that it neither is any more nor has ended.
  const begun = watch.adopted || watch.snapshotId !== undefined;
  if (!begun || site.sync.in_progress !== false || !tellsLastSync(site.sync)) return { is: 'unclear' };
  const why = shown === 'gone' ? 'its snapshot is not found (HTTP 404), ' : '';
  const detail = `The service no longer knows the sync: ${why}the site is not syncing, and no sync of it has ended since.`;
  return { is: 'lost', detail };
}

/** Whether the service tells when it last synced the site, or that it never did. */
const tellsLastSync = (sync: NonNullable<Site['sync']>): boolean =>
  sync.last_sync_at === null || !Number.isNaN(lastSyncMs(sync));

/** The snapshot, or whether it is gone; nothing when the service does not say. */
async function snapshotOf(api: Api, site_id: string, snapshot_id: string) {
  try {
    return (await api.showSiteSnapshot({ site_id, snapshot_id })).snapshot;
  } catch (error) {
    if (error instanceof GoneError) return 'gone';
    if (error instanceof RejectedError) return undefined;
    throw error;
  }
}

/** Not a number when the site was never synced: then no comparison holds. */
const lastSyncMs = (sync: NonNullable<Site['sync']>): number => Date.parse(sync.last_sync_at ?? '');

function bySnapshot(watch: SyncWatch, status: string | undefined, error: string | null | undefined): Verdict {
  switch (status) {
    case 'succeeded':
      return doneAs(watch);
    case 'failed':
      return {
        is: 'failed',
        reason: 'task-failed',
        detail: error ?? 'The snapshot failed, without a message.',
      };
    case 'cancelled':
      return { is: 'failed', reason: 'task-cancelled' };
    case 'in_progress':
    case 'waiting':
      return { is: 'running' };
    default:
      return { is: 'unclear' };
  }
}

function byLastSync(watch: SyncWatch, sync: NonNullable<Site['sync']>): Verdict {
  if (lastSyncFailed(sync)) {
    return {
      is: 'failed',
      reason: 'task-failed',
      detail: sync.last_sync_error ?? 'The sync failed, without a message.',
    };
  }
  return doneAs(watch);
}
