/** Sites, their syncs, and enabling backups (spec 4.15). */
import { z } from 'zod';
import { field, flag, ids, listTimestamp, oneOf, text, versionFilter } from '../list.ts';
import { operationsOf } from '../operation.ts';
import { idSchema, int, known, nonBlank, part, timestamp } from '../schema.ts';
import {
  CountPair,
  Detections,
  PageMeta,
  ScannerStatus,
  ScanProgress,
  SnapshotStatus,
  scannerStatuses,
} from './shared.ts';

// Sites (spec 2.17). Lists have `Site`; the single view adds credentials, scan and backup counts
// (`SiteDetails`). Creating and updating return only `ReducedSite`.
//
// A time that does not exist yet is null: a site that was never synced has no `last_sync_at`.

const ConnectionStatus = known('connected', 'disconnected');
const SiteClient = part(
  {
    id: idSchema,
    first_name: z.string(),
    last_name: z.string(),
    email: z.string(),
    company_name: z.string(),
  },
  'id',
);

// Not specified: allowed values of interval and last_sync_status.
const Sync = part(
  {
    last_sync_at: z.nullable(timestamp),
    next_sync_at: z.nullable(timestamp),
    last_sync_status: z.nullable(z.string()),
    last_sync_error: z.nullable(z.string()),
    interval: z.nullable(z.string()),
    daily_sync_time: z.nullable(z.string()),
    paused: z.boolean(),
    in_progress: z.boolean(),
  },
  'in_progress',
);

const connection = { status: ConnectionStatus };
const scanner = {
  status: z.nullable(ScannerStatus),
  malware_detected_at: z.nullable(timestamp),
  interval: z.nullable(z.string()),
  last_check_at: z.nullable(timestamp),
  next_check_at: z.nullable(timestamp),
  detections: Detections,
};
// Not specified: allowed values of mode.
const Firewall = part({
  enabled: z.boolean(),
  mode: z.nullable(z.string()),
  advanced: z.boolean(),
  bot_protection: part({ enabled: z.boolean() }),
});
const LatestSnapshot = part(
  {
    id: idSchema,
    created_at: timestamp,
    status: SnapshotStatus,
  },
  'id',
);
const backups = {
  enabled: z.boolean(),
  real_time: z.boolean(),
  available_snapshots: int,
  retention_days: int,
  latest_snapshot: z.nullable(LatestSnapshot),
};
const core = {
  current_version: z.string(),
  latest_version: z.string(),
  update_available: z.boolean(),
  locked: z.boolean(),
};
const switchable = part({ enabled: z.boolean() });

const shared = {
  id: idSchema,
  title: z.string(),
  url: z.string(),
  home_url: z.string(),
  created_at: timestamp,
  updated_at: timestamp,
  client: z.nullable(SiteClient),
  tags: z.array(part({ id: idSchema, name: z.string() }, 'id')),
  server: part({
    hosting: z.nullable(z.string()),
    mysql_version: z.nullable(z.string()),
    php_version: z.nullable(z.string()),
  }),
  sync: Sync,
  performance: switchable,
  analytics: switchable,
  activity_logs: switchable,
  // Not specified: allowed values of status.
  uptime: part({ enabled: z.boolean(), status: z.nullable(z.string()) }),
  screenshot: part({ thumbnail_url: z.nullable(z.string()), updated_at: z.nullable(timestamp) }),
  locked: z.boolean(),
  multisite: z.boolean(),
};

/** A site in lists. */
export const Site = part(
  {
    ...shared,
    connection: part(connection),
    security: part({ enabled: z.boolean(), scanner: part(scanner), firewall: Firewall }),
    backups: part(backups),
    wp: part({ core: part(core), default_wp_object_id: z.nullable(int) }),
  },
  'id',
  'url',
);
export type Site = z.output<typeof Site>;

/** The single view of a site. Its `connection` may contain credentials: never log or store them. */
export const SiteDetails = part(
  {
    ...shared,
    connection: part({
      ...connection,
      sticky_ip: z.optional(z.nullable(z.string())),
      http_auth: z.optional(z.nullable(part({ username: z.string(), password: z.string() }))),
    }),
    security: part({
      enabled: z.boolean(),
      scanner: part({ ...scanner, files: ScanProgress, database: ScanProgress }),
      firewall: Firewall,
    }),
    backups: part({ ...backups, files: CountPair, database: CountPair }),
    wp: part({ core: part({ ...core, vulnerable: z.boolean() }), default_wp_object_id: z.nullable(int) }),
  },
  'id',
  'url',
);
export type SiteDetails = z.output<typeof SiteDetails>;

/** The answer to creating or updating a site; `sync` is present only after updates. */
export const ReducedSite = part(
  {
    id: idSchema,
    url: z.string(),
    connection: part(connection),
    created_at: timestamp,
    updated_at: timestamp,
    sync: z.optional(part({ daily_sync_time: z.nullable(z.string()) })),
  },
  'id',
);
export type ReducedSite = z.output<typeof ReducedSite>;

/** The answer to enabling backups. Its shape is not specified, so no field is needed. */
export const SiteBackupsState = part({ id: idSchema, url: z.string(), backups: switchable });

const HttpAuth = z.strictObject({ username: z.string(), password: z.string() });
const timeOfDay = z.string().regex(/^\d{2}:\d{2}(:\d{2})?Z$/, 'must be a time of day in UTC such as 02:00Z');
const reduced = part({ site: ReducedSite }, 'site');

const operation = operationsOf('4.15');

export const siteOperations = {
  listSites: operation({
    summary: 'Lists sites.',
    method: 'GET',
    path: '/sites',
    answer: part({ sites: z.array(Site), meta: PageMeta }, 'sites'),
    list: {
      key: 'sites',
      filters: {
        id: field('id', ids('site', 'eq')),
        paused: field('sync.paused', flag('eq')),
        security: field('security.enabled', flag('eq')),
        backups: field('backups.enabled', flag('eq')),
        performance: field('performance.enabled', flag('eq')),
        connection_status: field('connection.status', oneOf(['connected', 'disconnected'], 'eq')),
        client_id: field('client.id', ids('client', 'eq')),
        uptime: flag('eq'),
        scanner_status: field('security.scanner.status', oneOf(scannerStatuses, 'eq')),
        locked: field('locked', flag('eq')),
        php_version: versionFilter('eq', 'gt', 'lt'),
        url: text('contains'),
        created_at: field('created_at', listTimestamp('gte', 'lte')),
        updated_at: field('updated_at', listTimestamp('gte', 'lte')),
        last_sync_at: field('sync.last_sync_at', listTimestamp('gte', 'lte')),
        tags: field('tags.id', ids('tag', 'in')),
      },
      sorts: ['created_at', 'updated_at', 'url', 'last_sync_at'],
      defaultSort: 'created_at,desc',
      timezone: true,
      paged: true,
    },
  }),
  createSite: operation({
    summary: 'Registers a site, which starts out disconnected.',
    method: 'POST',
    path: '/sites',
    body: z.strictObject({
      site: z.strictObject({
        url: nonBlank,
        connection: z.optional(
          z.strictObject({ sticky_ip: z.optional(z.string()), http_auth: z.optional(HttpAuth) }),
        ),
      }),
    }),
    bodyRequired: true,
    success: 201,
    answer: reduced,
    errors: [422],
    effect: 'once',
  }),
  showSite: operation({
    summary: 'Shows a site with all details, including connection credentials.',
    method: 'GET',
    path: '/sites/{site_id}',
    answer: part({ site: SiteDetails }, 'site'),
  }),
  deleteSite: operation({
    summary: 'Removes a site from the account.',
    destructive: 'The site is removed from the account, with its history there.',
    method: 'DELETE',
    path: '/sites/{site_id}',
    effect: 'repeatable',
  }),
  updateSite: operation({
    summary: 'Changes the address, connection settings or daily sync time of a site.',
    method: 'POST',
    path: '/sites/{site_id}/update',
    body: z.strictObject({
      site: z.strictObject({
        url: z.optional(nonBlank),
        connection: z.optional(
          z.strictObject({
            sticky_ip: z.optional(z.nullable(z.string())),
            http_auth: z.optional(z.nullable(HttpAuth)),
          }),
        ),
        sync: z.optional(z.strictObject({ daily_sync_time: z.optional(timeOfDay) })),
      }),
    }),
    bodyRequired: true,
    answer: reduced,
    errors: [422],
    effect: 'repeatable',
  }),
  syncSite: operation({
    summary: 'Starts a sync of a site; its snapshot shows the progress.',
    method: 'POST',
    path: '/sites/{site_id}/sync',
    body: z.strictObject({ sync: z.strictObject({ message: z.optional(z.string()) }) }),
    answer: part({ sync: part({ snapshot_id: idSchema, in_progress: z.boolean() }, 'snapshot_id') }, 'sync'),
    errors: [409, 422],
    effect: 'once',
  }),
  // The row has no name, and its answer and errors are not specified: the errors are those of similar
  // operations.
  enableSiteBackups: operation({
    summary: 'Enables backups for a site whose plan has them.',
    method: 'POST',
    path: '/sites/{site_id}/backups/enable',
    answer: part({ site: z.optional(SiteBackupsState) }),
    errors: [409, 422],
    effect: 'repeatable',
    leadsTo: { backups: { enabled: true } },
  }),
} as const;
