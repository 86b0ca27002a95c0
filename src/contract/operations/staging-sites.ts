/** Staging copies of sites (spec 4.14). */
import { z } from 'zod';
import { field, ids, listTimestamp, oneOf } from '../list.ts';
import { operationsOf } from '../operation.ts';
import { idOf, idSchema, int, known, nonBlank, part, timestamp } from '../schema.ts';
import { PageMeta, TaskReference } from './shared.ts';
import { SnapshotOptions } from './snapshots.ts';

// Staging copies of sites (spec 2.16). Lists have `StagingSite`; the single view adds address and
// credentials.

const shape = {
  id: idSchema,
  site_id: idSchema,
  status: known('initializing', 'active', 'paused', 'suspended'),
  url: z.string(),
  created_at: timestamp,
  updated_at: timestamp,
  expires_at: timestamp,
  php_version: z.string(),
  user: part({ name: z.string(), email: z.string() }),
};

/** A staging site in lists. */
export const StagingSite = part(shape, 'id');
export type StagingSite = z.output<typeof StagingSite>;

const account = { username: z.string(), password: z.string() };

/** The single view of a staging site. `credentials` are secrets: never log or store them. */
export const StagingSiteDetails = part(
  {
    ...shape,
    snapshot: part({ id: idSchema, created_at: timestamp }),
    credentials: part({
      http_auth: part(account),
      server: part({ protocol: z.string(), host: z.string(), port: int, ...account }),
      database: part({ host: z.string(), port: int, name: z.string(), ...account }),
    }),
  },
  'id',
);
export type StagingSiteDetails = z.output<typeof StagingSiteDetails>;

const stagingSite = part({ staging_site: StagingSiteDetails }, 'staging_site');

const operation = operationsOf('4.14');

export const stagingSiteOperations = {
  listStagingSites: operation({
    summary: 'Lists staging sites.',
    method: 'GET',
    path: '/staging-sites',
    answer: part({ staging_sites: z.array(StagingSite), meta: PageMeta }, 'staging_sites'),
    errors: [422],
    list: {
      key: 'staging_sites',
      filters: {
        status: field('status', oneOf(['initializing', 'active', 'paused', 'suspended'], 'eq')),
        site_id: field('site_id', ids('site', 'eq')),
        created_at: field('created_at', listTimestamp('gte', 'lte')),
        updated_at: field('updated_at', listTimestamp('gte', 'lte')),
        expires_at: field('expires_at', listTimestamp('gte', 'lte')),
      },
      sorts: ['created_at', 'updated_at', 'expires_at', 'php_version'],
      defaultSort: 'created_at,desc',
      timezone: true,
      paged: true,
    },
  }),
  createStagingSite: operation({
    summary: 'Starts a staging copy of a site from one of its completed snapshots.',
    method: 'POST',
    path: '/staging-sites',
    body: z.strictObject({
      staging_site: z.strictObject({
        site_id: idOf('site'),
        snapshot_id: idSchema,
        php_version: z.optional(nonBlank),
        options: z.optional(SnapshotOptions),
      }),
    }),
    bodyRequired: true,
    success: 201,
    answer: TaskReference,
    errors: [404, 422],
    effect: 'once',
  }),
  showStagingSite: operation({
    summary: 'Shows a staging site with its snapshot and credentials.',
    method: 'GET',
    path: '/staging-sites/{staging_site_id}',
    answer: stagingSite,
    errors: [422],
  }),
  deleteStagingSite: operation({
    summary: 'Deletes a staging site.',
    destructive: 'The copy and everything that was changed in it are lost.',
    method: 'DELETE',
    path: '/staging-sites/{staging_site_id}',
    errors: [422],
    effect: 'repeatable',
  }),
  extendStagingSiteExpiry: operation({
    summary: 'Extends the expiry of a staging site.',
    method: 'POST',
    path: '/staging-sites/{staging_site_id}/extend-expiry',
    // Not specified: the minimum and maximum number of days.
    body: z.strictObject({ days: int }),
    bodyRequired: true,
    answer: stagingSite,
    errors: [422],
    effect: 'once',
  }),
  resumeStagingSite: operation({
    summary: 'Resumes a paused staging site.',
    method: 'POST',
    path: '/staging-sites/{staging_site_id}/resume',
    answer: stagingSite,
    errors: [422],
    effect: 'repeatable',
    leadsTo: { status: 'active' },
  }),
  updateStagingSitePhpVersion: operation({
    summary: 'Starts changing the PHP version of a staging site.',
    method: 'POST',
    path: '/staging-sites/{staging_site_id}/update-php-version',
    body: z.strictObject({ staging_site: z.strictObject({ php_version: nonBlank }) }),
    bodyRequired: true,
    answer: TaskReference,
    errors: [422],
    effect: 'once',
  }),
  downloadStagingSite: operation({
    summary: 'Starts preparing a download of a staging site.',
    method: 'POST',
    path: '/staging-sites/{staging_site_id}/download',
    body: z.strictObject({
      download: z.strictObject({
        scope: z.strictObject({
          include_files: z.optional(z.boolean()),
          include_database: z.optional(z.boolean()),
        }),
      }),
    }),
    bodyRequired: true,
    answer: TaskReference,
    errors: [422],
    effect: 'once',
  }),
  generateStagingSiteWpSsoLoginUrl: operation({
    summary: 'Creates a temporary URL that signs in to a staging site as one of its users.',
    method: 'GET',
    path: '/staging-sites/{staging_site_id}/wp/users/sso-login-url',
    query: z.strictObject({
      wp_object_id: z.optional(z.string().regex(/^\d*$/, 'must be digits, or blank for the default user')),
    }),
    answer: part({ url: z.string() }, 'url'),
    errors: [422],
  }),
} as const;
