/** Finds out whether a sync whose answer was lost has started, and whether a site's last sync failed. */
import { RejectedError } from '../../client/errors.ts';
import { orderOf, timeOf } from '../../clock.ts';
import type { Item } from '../../contract/operations.ts';
import type { Intent } from '../../run/run.ts';
import type { Answer } from '../answer.ts';
import { createdSince, type Looking, ownOf } from './own-effect.ts';

export type FoundSync =
  | Extract<Answer<never>, { is: 'following' }>
  | { is: 'absent' }
  | { is: 'unknown'; detail: string };

type Snapshots = readonly { id: string; created_at?: string | undefined }[];

/**
 * Looks for a sync of the site that began since the intent, and adopts it: a running one, no matter who started it,
 * or an ended one that belongs to no other target. One request, and one more when the site does not show its
 * latest snapshot.
 */
export async function findSync(looking: Looking, siteId: string, intent: Intent): Promise<FoundSync> {
  const { site } = await looking.api.showSite({ site_id: siteId });
  const { sync, backups } = site;
  const watch = { kind: 'sync', siteId, since: intent.at, adopted: true } as const;
  if (sync?.in_progress === true) return { is: 'following', watch };

  const shown = backups?.latest_snapshot;
  const snapshots =
    shown === undefined ? await snapshotsSince(looking, siteId, intent) : shown ? [shown] : [];
  const candidates = (snapshots ?? []).map(({ id, created_at }) => ({
    id,
    createdAt: created_at,
    isSure: true,
  }));
  const own = await ownOf(looking, 'syncSite', intent, candidates, 'A snapshot of the site');
  if (own.is === 'found') return { is: 'following', watch: { ...watch, snapshotId: own.id } };
  if (own.is === 'unknown') return own;

  // With backups enabled, a sync has a snapshot from its start on.
  const showsSyncs = snapshots !== undefined && (shown === undefined || backups?.enabled === true);
  if (sync?.in_progress === undefined && showsSyncs) return { is: 'absent' };
  if (sync?.in_progress === undefined)
    return { is: 'unknown', detail: 'The service does not show whether the site is being synced.' };
  if (sync.last_sync_at === null) return { is: 'absent' };
  const lastSync = timeOf(sync.last_sync_at);
  if (!lastSync) return { is: 'unknown', detail: 'The service does not show when it last synced the site.' };
  const order = orderOf(lastSync, await looking.serviceTime(intent.at));
  if (order === 'before') return { is: 'absent' };
  // Its snapshot is from before the intent, or another target's: so is the sync.
  if (showsSyncs && candidates.length > 0) return { is: 'absent' };
  if (order === 'after') return { is: 'following', watch };
  return {
    is: 'unknown',
    detail:
      'A sync of the site ended at about the time of the request, and it is not certain who started it.',
  };
}

/** The snapshots made since the intent; undefined when the service rejects the list for this site. */
async function snapshotsSince(
  looking: Looking,
  site_id: string,
  intent: Intent,
): Promise<Snapshots | undefined> {
  const snapshots: { id: string; created_at?: string | undefined }[] = [];
  try {
    const filters = await createdSince(looking, intent);
    for await (const snapshot of looking.all('listSiteSnapshots', { site_id, filters }))
      snapshots.push(snapshot);
    return snapshots;
  } catch (error) {
    if (error instanceof RejectedError) return undefined;
    throw error;
  }
}

/**
 * The spec does not list the values of `last_sync_status`, so only a value that clearly says failure counts
 * as one.
 */
export const lastSyncFailed = ({ last_sync_status }: NonNullable<Item<'listSites'>['sync']>): boolean =>
  /fail|error/i.test(last_sync_status ?? '');
