/** Starts the download, upload or migration of a complete snapshot (spec 4.20). */
import type { Site, Snapshot } from '../model/site.ts';
import type { World } from '../model/world.ts';
import { cannot, conflict, notFound } from '../refusal.ts';
import { requireUnconfigured } from '../world/sites.ts';
import { snapshotsOf } from '../world/snapshots.ts';
import { MINUTE } from '../world/time.ts';
import { type Ask, type Handler, siteOf, taskReference } from './handler.ts';
import { startTask } from './tasks.ts';

// Checks that are common to requests about a snapshot: which one, which parts, and up to what time (spec
// 4.14, 4.20).

/**
 * A complete snapshot.
 *
 * @throws {Refusal} 404 when the site or snapshot does not exist; 422 when the site has no backups or the
 * snapshot is not complete.
 */
export function completedSnapshotOf(
  world: World,
  siteId: string,
  snapshotId: string,
): { site: Site; snapshot: Snapshot } {
  const site = siteWithBackups(world, siteId);
  const snapshot = snapshotsOf(site).find(({ id }) => id === snapshotId);
  if (!snapshot) throw notFound('snapshot', snapshotId);
  if (snapshot.status !== 'succeeded') {
    throw cannot('snapshot_not_complete', `The snapshot is ${snapshot.status}, not succeeded.`);
  }
  return { site, snapshot };
}

/** @throws {Refusal} 404 when there is no such site; 422 unless it has backups and they are enabled. */
export function siteWithBackups(world: World, id: string): Site {
  const site = siteOf(world, id);
  if (!site.backups.supported) throw cannot('plan_without_backups', "The site's plan has no backups.");
  if (!site.backups.enabled) throw cannot('backups_disabled', 'Backups are not enabled on this site.');
  return site;
}

interface Events {
  real_time_events?: { enabled: boolean; until?: string | undefined } | undefined;
}

/** Real-time events exist for sites with real-time backups, from the snapshot up to now. */
export function requireEvents(
  site: Site,
  { createdAt }: Snapshot,
  options: Events | undefined,
  now: number,
): void {
  const events = options?.real_time_events;
  if (!events?.enabled || events.until === undefined) return;
  if (!site.backups.realTime) throw cannot('no_real_time_backups', 'The site is not backed up in real time.');
  const until = Date.parse(events.until);
  if (until < createdAt || until > now) {
    throw cannot('until_out_of_range', 'Real-time events reach from the snapshot to the present.');
  }
}

type Starts = 'startSiteBackupDownload' | 'startSiteBackupUpload' | 'startSiteBackupMigration';
type Wanted = Ask<'startSiteBackupDownload'>['body']['download'];

export const startSiteBackupDownload: Handler<'startSiteBackupDownload'> = (ask) =>
  start(ask, 'download', ask.body.download);

export const startSiteBackupUpload: Handler<'startSiteBackupUpload'> = (ask) => {
  const { destination } = ask.body.upload;
  return start(ask, 'upload', ask.body.upload, () => requireDestination(ask.world, destination));
};

export const startSiteBackupMigration: Handler<'startSiteBackupMigration'> = (ask) => {
  const { migration } = ask.body;
  return start(ask, 'migrate', migration, (site) =>
    migration.type === 'internal'
      ? requireOtherSite(ask.world, site, migration)
      : requireCredentials(migration),
  );
};

/** Makes the common checks, then those of the operation, and starts the task. */
function start(
  { world, now, params, changed }: Ask<Starts>,
  type: 'download' | 'upload' | 'migrate',
  { scope, options }: Wanted,
  requireMore: (site: Site) => void = () => undefined,
) {
  const { site, snapshot } = completedSnapshotOf(world, params.site_id, params.snapshot_id);
  if (!scope.include_files && !scope.include_database) {
    throw cannot('scope_empty', 'It takes files, the database or both.');
  }
  requireEvents(site, snapshot, options, now);
  requireMore(site);
  requireUnconfigured(site, now);
  requireIdle(world, site);
  const input = [
    { id: site.id, snapshot_id: snapshot.id, snapshot_timestamp: new Date(snapshot.createdAt).toISOString() },
  ];
  const task = startTask(world, { type, input, takesMs: (type === 'download' ? 3 : 8) * MINUTE }, now);
  changed(site.id);
  return taskReference(task);
}

/** One backup task per site at a time. */
function requireIdle(world: World, site: Site): void {
  for (const { type, endedAt, input } of world.tasks.values()) {
    if (
      endedAt === null &&
      ['download', 'upload', 'migrate'].includes(type) &&
      input.some(({ id }) => id === site.id)
    ) {
      throw conflict('backup_task_running', `A ${type} of this site's backups is already running.`);
    }
  }
}

/** provider_one needs no saved destination. provider_two needs the id of a saved one that is connected. */
function requireDestination(
  { storage }: World,
  { provider, id }: { provider: 'provider_one' | 'provider_two'; id?: string | undefined },
): void {
  if (provider === 'provider_one') return;
  const saved = storage.disabled.has(provider) ? undefined : storage.saved.get(provider);
  if (saved?.id !== id) throw cannot('destination_not_found', `There is no saved destination "${id}".`);
  if (!saved?.account) throw cannot('destination_disconnected', 'The destination is disconnected.');
}

type Migration = Record<string, unknown> & { connection?: Record<string, unknown> | undefined };

/** The fields are our choice: `site_id`, and `connection` with method `http` and optionally `http_auth`. */
function requireOtherSite(world: World, site: Site, { site_id, connection }: Migration): void {
  if (typeof site_id !== 'string' || site_id === site.id) {
    throw cannot(
      'destination_site_missing',
      'An internal migration goes to another site: give its "site_id".',
    );
  }
  siteOf(world, site_id);
  const method = connection?.['method'] ?? 'http';
  if (method !== 'http') throw cannot('invalid_connection', 'An internal migration uses HTTP.');
}

/** The fields are our choice: `server` and `database`, each with host, username and password. */
function requireCredentials({ connection }: Migration): void {
  for (const part of ['server', 'database']) {
    const given = connection?.[part];
    const fields = typeof given === 'object' && given !== null ? Object.keys(given) : [];
    if (!['host', 'username', 'password'].every((name) => fields.includes(name))) {
      throw cannot('credentials_missing', `An external migration needs the credentials of the ${part}.`);
    }
  }
}
