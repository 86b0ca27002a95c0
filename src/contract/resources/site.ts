/**
 * Sites (spec 2.17). Lists have `Site`; the single view adds credentials, scan and backup counts
 * (`SiteDetails`). Creating and updating return only `ReducedSite`.
 *
 * A time that does not exist yet is null: a site that was never synced has no `last_sync_at`.
 */
import { z } from 'zod';
import { idSchema, int, known, part, timestamp } from '../schema.ts';
import { CountPair, Detections, ScannerStatus, ScanProgress, SnapshotStatus } from './shared.ts';

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
