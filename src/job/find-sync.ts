/** Finding out whether a sync whose answer was lost began, and what a site says of its last one. */
import type { Item } from '../contract/operations.ts';
import type { Answer, Api } from './job.ts';

export type FoundSync =
  | Extract<Answer<never>, { is: 'following' }>
  | { is: 'absent' }
  | { is: 'unknown'; detail: string };

/** Moments of the service and of ours are compared with this much slack. */
export const SYNC_SLACK_MS = 60_000;

/** Looks for a sync of the site that began since `at`, and adopts it. One request. */
export async function findSync(api: Api, siteId: string, at: number): Promise<FoundSync> {
  const { site } = await api.showSite({ site_id: siteId });
  const { sync } = site;
  if (!sync)
    return { is: 'unknown', detail: 'The service does not tell how the site stands with its syncs.' };
  const since = at - SYNC_SLACK_MS;
  const watch = { kind: 'sync', siteId, since, adopted: true } as const;
  if (sync.in_progress) return { is: 'following', watch };
  const snapshot = site.backups?.latest_snapshot;
  if (snapshot && Date.parse(snapshot.created_at ?? '') >= since) {
    return { is: 'following', watch: { ...watch, snapshotId: snapshot.id } };
  }
  if (sync.last_sync_at === null) return { is: 'absent' };
  const lastSyncAt = Date.parse(sync.last_sync_at ?? '');
  if (Number.isNaN(lastSyncAt))
    return { is: 'unknown', detail: 'The service does not tell when it last synced the site.' };
  return lastSyncAt >= since ? { is: 'following', watch } : { is: 'absent' };
}

/** The values of `last_sync_status` are not shown by the spec: only what plainly says failure counts as one. */
export const lastSyncFailed = ({ last_sync_status }: NonNullable<Item<'listSites'>['sync']>): boolean =>
  /fail|error/i.test(last_sync_status ?? '');
