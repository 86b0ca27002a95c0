/** Staging copies of sites (spec 4.14). */

import type { StagingSite } from '../model/site.ts';
import type { World } from '../model/world.ts';
import { cannot, notFound } from '../refusal.ts';
import { stagingDetails, stagingView } from '../views/staging-site.ts';
import { seedOf } from '../world/random.ts';
import { MINUTE, SECOND } from '../world/service-time.ts';
import { extend, PHP_VERSIONS, requireRunning, resume, useStaging } from '../world/staging.ts';
import { startTask } from '../world/tasks.ts';
import { completedSnapshotOf, requireEvents } from './backup-parts.ts';
import { type Handler, lists } from './handler.ts';
import { taskReference } from './task-reference.ts';

function stagingOf(world: World, id: string): StagingSite {
  const staging = world.staging.get(id);
  if (!staging) throw notFound('staging site', id);
  return staging;
}

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
