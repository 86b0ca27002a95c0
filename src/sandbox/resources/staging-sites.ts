/** Staging copies of sites (spec 4.14). */
import type {
  StagingSite as ShownStaging,
  StagingSiteDetails,
} from '../../contract/operations/staging-sites.ts';
import type { StagingPlan, StagingSite } from '../model/site.ts';
import type { World } from '../model/world.ts';
import { cannot, notFound } from '../refusal.ts';
import { idOf, nextNumber, seedOf } from '../world/numbers.ts';
import { DAY, MINUTE, SECOND } from '../world/time.ts';
import { completedSnapshotOf, requireEvents } from './backups.ts';
import { type Handler, itemIn, lists, shown, taskReference } from './handler.ts';
import { startTask } from './tasks.ts';

// The views of a staging copy: in lists, and alone with address and credentials (spec 2.16).

export const stagingView = (staging: StagingSite): ShownStaging => ({
  id: staging.id,
  site_id: staging.siteId,
  status: staging.status,
  url: staging.url,
  created_at: shown(staging.createdAt),
  updated_at: shown(staging.updatedAt),
  expires_at: shown(staging.expiresAt),
  php_version: staging.phpVersion,
  user: { ...staging.user },
});

/** Its passwords are invented, derived from its id. */
export const stagingDetails = (staging: StagingSite): StagingSiteDetails => {
  const host = new URL(staging.url).host;
  const password = (what: string) => `staging-${seedOf(staging.number, what).toString(36)}`;
  const username = `stage${staging.number}`;
  return {
    ...stagingView(staging),
    snapshot: { id: staging.snapshot.id, created_at: shown(staging.snapshot.createdAt) },
    credentials: {
      http_auth: { username, password: password('http') },
      server: { protocol: 'sftp', host, port: 2222, username, password: password('server') },
      database: { host, port: 3306, name: username, username, password: password('database') },
    },
  };
};

// Staging copies of sites (spec 2.16): initializing -> active; paused without use, suspended when expired,
// and deleted some days later. The spec shows only "resume".

const READY_AFTER = 2 * MINUTE;
const LIVES_FOR = 14 * DAY;
const PAUSED_AFTER = 3 * DAY;
const REMOVED_AFTER = 7 * DAY;
/** The maximum age of a copy in days, however often it is extended. */
export const MAX_LIFE_DAYS = 30;

/** The versions of PHP that a copy can run on. */
export const PHP_VERSIONS: readonly string[] = ['7.4', '8.0', '8.1', '8.2', '8.3', '8.4'];

/** Adds a copy to the list, in status initializing. */
export function addStaging(world: World, plan: StagingPlan, at: number): StagingSite {
  const number = nextNumber(world, 'staging');
  const { siteId, siteUrl, ...rest } = plan;
  const staging: StagingSite = {
    id: idOf('staging', number),
    number,
    siteId,
    status: 'initializing',
    url: `https://${new URL(siteUrl).host.split('.')[0] ?? 'copy'}-${number}.staging.example`,
    ...rest,
    createdAt: at,
    updatedAt: at,
    expiresAt: at + LIVES_FOR,
    usedAt: at,
  };
  world.staging.set(staging.id, staging);
  world.agenda.add(at + READY_AFTER, { does: 'age-staging', staging: staging.id });
  return staging;
}

/** Updates the status of a copy, and schedules the next time at which it may change. */
export function ageStaging(world: World, id: string, at: number): void {
  const staging = world.staging.get(id);
  if (!staging) return;
  if (at >= staging.expiresAt + REMOVED_AFTER) {
    world.staging.delete(id);
    return;
  }
  const status = statusAt(staging, at);
  if (status !== staging.status) Object.assign(staging, { status, updatedAt: at });
  scheduleNext(world, staging, at);
}

function statusAt(staging: StagingSite, at: number): StagingSite['status'] {
  if (at >= staging.expiresAt) return 'suspended';
  if (staging.status === 'initializing')
    return at >= staging.createdAt + READY_AFTER ? 'active' : 'initializing';
  if (staging.status === 'active' && at >= staging.usedAt + PAUSED_AFTER) return 'paused';
  return staging.status;
}

/** Duplicate entries for the same time are harmless: the second one only schedules again. */
function scheduleNext(world: World, { id, expiresAt, usedAt, status }: StagingSite, at: number): void {
  const times = [
    expiresAt,
    expiresAt + REMOVED_AFTER,
    ...(status === 'active' ? [usedAt + PAUSED_AFTER] : []),
  ];
  const next = Math.min(...times.filter((time) => time > at));
  if (Number.isFinite(next)) world.agenda.add(next, { does: 'age-staging', staging: id });
}

/** Records a use of the copy, so that it is not paused for some days. */
export function useStaging(world: World, staging: StagingSite, at: number): void {
  staging.usedAt = at;
  scheduleNext(world, staging, at);
}

/** Paused -> active. @throws {Refusal} 422 from any other state. */
export function resume(world: World, staging: StagingSite, at: number): void {
  if (staging.status !== 'paused') {
    throw cannot('staging_not_paused', `The staging site is ${staging.status}, not paused.`);
  }
  Object.assign(staging, { status: 'active', updatedAt: at });
  useStaging(world, staging, at);
}

/**
 * Extends the life of a copy by `days`; a suspended copy becomes active.
 *
 * @throws {Refusal} 422 for an invalid number of days, or beyond the maximum age.
 */
export function extend(world: World, staging: StagingSite, days: number, at: number): void {
  if (days < 1 || days > MAX_LIFE_DAYS) {
    throw cannot('invalid_days', `A staging site is extended by 1 to ${MAX_LIFE_DAYS} days.`);
  }
  const expiresAt = Math.max(staging.expiresAt, at) + days * DAY;
  if (expiresAt > staging.createdAt + MAX_LIFE_DAYS * DAY) {
    throw cannot('staging_expiry_limit', `A staging site lives for ${MAX_LIFE_DAYS} days at most.`);
  }
  const status = staging.status === 'suspended' ? 'active' : staging.status;
  Object.assign(staging, { status, expiresAt, updatedAt: at });
  useStaging(world, staging, at);
}

/** @throws {Refusal} 422 unless the copy is active. */
export function requireRunning(staging: StagingSite): void {
  if (staging.status === 'active') return;
  throw cannot('staging_not_active', `The staging site is ${staging.status}, not active.`);
}

/** Applies the result of a task that changes the PHP version of a copy. */
export function setPhp(world: World, id: string, phpVersion: string, at: number): void {
  const staging = world.staging.get(id);
  if (staging) Object.assign(staging, { phpVersion, updatedAt: at });
}

const stagingOf = (world: World, id: string): StagingSite => itemIn(world.staging, 'staging site', id);

export const listStagingSites = lists<'listStagingSites', StagingSite>({
  items: ({ world }) => world.staging.values(),
  fields: {
    status: (staging) => staging.status,
    site_id: (staging) => staging.siteId,
    created_at: (staging) => staging.createdAt,
    updated_at: (staging) => staging.updatedAt,
    expires_at: (staging) => staging.expiresAt,
    php_version: (staging) => staging.phpVersion,
  },
  view: stagingView,
});

export const showStagingSite: Handler<'showStagingSite'> = ({ world, params }) => ({
  staging_site: stagingDetails(stagingOf(world, params.staging_site_id)),
});

/** Starts a task. When it succeeds, the copy appears in the list. */
export const createStagingSite: Handler<'createStagingSite'> = ({ world, now, body, changed }) => {
  const { site_id, snapshot_id, php_version, options } = body.staging_site;
  const { site, snapshot } = completedSnapshotOf(world, site_id, snapshot_id);
  requireEvents(site, snapshot, options, now);
  const phpVersion = requirePhp(php_version ?? branch(site.server.php_version));
  const plan = {
    siteId: site.id,
    siteUrl: site.url,
    phpVersion,
    user: world.caller,
    snapshot: { id: snapshot.id, createdAt: snapshot.createdAt },
  };
  const input = {
    id: site.id,
    site_url: site.url,
    user_configuration: { site_name: site.title, php_version: phpVersion, category: 'staging' },
    snapshot_id: snapshot.id,
    snapshot_timestamp: new Date(snapshot.createdAt).toISOString(),
  };
  const makes = { does: 'add-staging', plan } as const;
  const task = startTask(world, { type: 'staging', input: [input], takesMs: 4 * MINUTE, makes }, now);
  changed(site.id);
  return taskReference(task, 'queued');
};

/** A copy that is still initializing cannot be deleted. */
export const deleteStagingSite: Handler<'deleteStagingSite'> = ({ world, params, changed }) => {
  const staging = stagingOf(world, params.staging_site_id);
  if (staging.status === 'initializing') {
    throw cannot('staging_initializing', 'The staging site is still being made.');
  }
  world.staging.delete(staging.id);
  changed(staging.id);
};

export const extendStagingSiteExpiry: Handler<'extendStagingSiteExpiry'> = (ask) => {
  const { world, now, params, body, changed } = ask;
  const staging = stagingOf(world, params.staging_site_id);
  extend(world, staging, body.days, now);
  changed(staging.id);
  return { staging_site: stagingDetails(staging) };
};

export const resumeStagingSite: Handler<'resumeStagingSite'> = ({ world, now, params, changed }) => {
  const staging = stagingOf(world, params.staging_site_id);
  resume(world, staging, now);
  changed(staging.id);
  return { staging_site: stagingDetails(staging) };
};

export const updateStagingSitePhpVersion: Handler<'updateStagingSitePhpVersion'> = (ask) => {
  const { world, now, params, body, changed } = ask;
  const staging = stagingOf(world, params.staging_site_id);
  requireRunning(staging);
  const phpVersion = requirePhp(body.staging_site.php_version);
  useStaging(world, staging, now);
  const makes = { does: 'set-staging-php', staging: staging.id, phpVersion } as const;
  const input = [{ id: staging.siteId }];
  const task = startTask(world, { type: 'configure_staging_site', input, takesMs: 30 * SECOND, makes }, now);
  changed(staging.id);
  return taskReference(task);
};

export const downloadStagingSite: Handler<'downloadStagingSite'> = (ask) => {
  const { world, now, params, body, changed } = ask;
  const staging = stagingOf(world, params.staging_site_id);
  requireRunning(staging);
  const { include_files = false, include_database = false } = body.download.scope;
  if (!include_files && !include_database) {
    throw cannot('scope_empty', 'A download holds files, the database or both.');
  }
  useStaging(world, staging, now);
  const input = [{ id: staging.siteId }];
  const task = startTask(world, { type: 'download_staging', input, takesMs: 3 * MINUTE }, now);
  changed(staging.id);
  return taskReference(task);
};

/** The users of a copy are those of its site: 1 is the default admin. */
const USERS = 20;

export const generateStagingSiteWpSsoLoginUrl: Handler<'generateStagingSiteWpSsoLoginUrl'> = (ask) => {
  const { world, now, params, query } = ask;
  const staging = stagingOf(world, params.staging_site_id);
  requireRunning(staging);
  const user = query.wp_object_id ? Number(query.wp_object_id) : 1;
  if (user < 1 || user > USERS) throw notFound('user', String(user));
  const key = seedOf(now, `${staging.id} ${user}`).toString(36);
  return { url: `${staging.url}/wp-admin/?sso_key=${key}&user_id=${user}` };
};

/** `8.3` of `8.3.14`. */
const branch = (version: string | null): string => version?.split('.').slice(0, 2).join('.') ?? '8.3';

function requirePhp(version: string): string {
  if (PHP_VERSIONS.includes(version)) return version;
  // The live site may run a version that is no longer available for copies.
  throw cannot('php_version_unsupported', `A staging site runs on PHP ${PHP_VERSIONS.join(', ')}.`);
}
