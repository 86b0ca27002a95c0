/**
 * Follows site syncs (spec 3 and 4.15), which have no task. A sync has ended when `sync.in_progress` is
 * false, and its snapshot shows the result. The sweep lists the sites synced since, newest first, so its
 * pages are in proportion to what ended. `backups.latest_snapshot` in the list saves a request per site.
 */
import { GoneError, RejectedError } from '../../client/errors.ts';
import { orderOf, type TimeBounds, timeOf } from '../../clock.ts';
import type { Item } from '../../contract/operations.ts';
import type { Watch } from '../../run/run.ts';
import type { Api } from '../api.ts';
import { lastSyncFailed } from '../reconcile/find-sync.ts';
import { type Lost, successVerdict, type Verdict, type WatchKind } from './watch.ts';

/** What a watch of this kind holds. */
export interface SyncWatch extends Watch {
  kind: 'sync';
  siteId: string;
  snapshotId?: string;
}
type Site = Item<'listSites'>;

export const syncWatch: WatchKind<SyncWatch, Site> = {
  name: 'sync',
  label: () => 'The sync',
  id: (watch) => watch.snapshotId,
  sweep: {
    operation: 'listSites',
    query: (_watches, from) => ({ filters: { last_sync_at: { gte: from } }, sort: 'last_sync_at,desc' }),
  },
  movedAt: (site) => site.sync?.last_sync_at,
  keyOfItem: (site) => site.id,
  keyOf: (watch) => watch.siteId,
  evaluate,
  poll,
};

function evaluate(watch: SyncWatch, site: Pick<Site, 'sync' | 'backups'>, since: TimeBounds): Verdict {
  const { sync, backups } = site;
  if (sync?.in_progress) return { is: 'running' };
  const snapshot = backups?.latest_snapshot;
  if (snapshot && snapshot.id === watch.snapshotId) {
    return bySnapshot(watch, snapshot.status, sync?.last_sync_error);
  }
  // Without Backups, or for a sync that was not ours, only the site's record of its last sync shows the
  // result.
  const ownSnapshotExpected = watch.snapshotId !== undefined && backups?.enabled !== false;
  if (!sync || ownSnapshotExpected || !hasEnded(sync, since)) return { is: 'unclear' };
  return backups?.enabled && snapshot?.status === 'failed'
    ? bySnapshot(watch, 'failed', sync.last_sync_error)
    : byLastSync(watch, sync);
}

/**
 * Requests the site, and the snapshot where it shows more or the site does not show enough. A sync is lost
 * when the service had it, it neither runs nor has ended, and no snapshot of it is shown.
 */
async function poll(api: Api, watch: SyncWatch, since: TimeBounds): Promise<Verdict | Lost> {
  const { site } = await api.showSite({ site_id: watch.siteId });
  const { sync, backups } = site;
  if (sync?.in_progress) return { is: 'running' };
  const endedSince = sync !== undefined && hasEnded(sync, since);
  const asked = watch.snapshotId !== undefined && (backups?.enabled !== false || !endedSince);
  const shown = asked ? await snapshotOf(api, watch.siteId, watch.snapshotId ?? '') : undefined;
  if (shown !== undefined && shown !== 'gone') {
    return bySnapshot(watch, shown.status, shown.error_message);
  }
  if (!sync) return { is: 'unclear' };
  if (endedSince) return byLastSync(watch, sync);
  // It was running when it was started or adopted. Now the service shows that it is not running and has not
  // ended.
  const begun = watch.adopted || watch.snapshotId !== undefined;
  if (!begun || sync.in_progress !== false || !showsLastSync(sync)) return { is: 'unclear' };
  const why = shown === 'gone' ? 'its snapshot is not found (HTTP 404), ' : '';
  const detail = `The service no longer knows the sync: ${why}the site is not syncing, and no sync of it has ended since.`;
  return { is: 'lost', detail };
}

type Sync = NonNullable<Site['sync']>;

/** Whether the service shows when it last synced the site, or that it never synced it. */
const showsLastSync = (sync: Sync): boolean =>
  sync.last_sync_at === null || timeOf(sync.last_sync_at) !== undefined;

/** Whether a sync of the site has ended since. False when the site does not show the end of its last sync. */
export function hasEnded({ last_sync_at }: Sync, since: TimeBounds): boolean {
  const ended = timeOf(last_sync_at);
  return ended !== undefined && orderOf(ended, since) !== 'before';
}

/** The snapshot, or `gone`; undefined when the service rejects the request. */
async function snapshotOf(api: Api, site_id: string, snapshot_id: string) {
  try {
    return (await api.showSiteSnapshot({ site_id, snapshot_id })).snapshot;
  } catch (error) {
    if (error instanceof GoneError) return 'gone';
    if (error instanceof RejectedError) return undefined;
    throw error;
  }
}

function bySnapshot(watch: SyncWatch, status: string | undefined, error: string | null | undefined): Verdict {
  switch (status) {
    case 'succeeded':
      return successVerdict(watch);
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

function byLastSync(watch: SyncWatch, sync: Sync): Verdict {
  if (lastSyncFailed(sync)) {
    return {
      is: 'failed',
      reason: 'task-failed',
      detail: sync.last_sync_error ?? 'The sync failed, without a message.',
    };
  }
  return successVerdict(watch);
}
