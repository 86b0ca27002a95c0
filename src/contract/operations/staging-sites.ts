/** Staging copies of sites (spec 4.14). */
import { z } from 'zod';
import { field, ids, listTimestamp, oneOf } from '../list.ts';
import { operation } from '../operation.ts';
import { PageMeta, TaskReference } from '../resources/shared.ts';
import { SnapshotOptions } from '../resources/snapshot.ts';
import { StagingSite, StagingSiteDetails } from '../resources/staging-site.ts';
import { idOf, idSchema, int, nonBlank, part } from '../schema.ts';

const stagingSite = part({ staging_site: StagingSiteDetails }, 'staging_site');

export const stagingSiteOperations = {
  listStagingSites: operation({
    section: '4.14',
    summary: 'Lists staging sites.',
    method: 'GET',
    path: '/staging-sites',
    success: 200,
    answer: part({ staging_sites: z.array(StagingSite), meta: PageMeta }, 'staging_sites'),
    errors: [400, 401, 403, 422, 429],
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
    section: '4.14',
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
    errors: [400, 401, 403, 404, 422, 429],
    effect: 'once',
  }),
  showStagingSite: operation({
    section: '4.14',
    summary: 'Shows a staging site with its snapshot and credentials.',
    method: 'GET',
    path: '/staging-sites/{staging_site_id}',
    success: 200,
    answer: stagingSite,
    errors: [401, 403, 404, 422, 429],
  }),
  deleteStagingSite: operation({
    section: '4.14',
    summary: 'Deletes a staging site.',
    destructive: 'The copy and everything that was changed in it are lost.',
    method: 'DELETE',
    path: '/staging-sites/{staging_site_id}',
    success: 204,
    errors: [401, 403, 404, 422, 429],
    effect: 'repeatable',
  }),
  extendStagingSiteExpiry: operation({
    section: '4.14',
    summary: 'Extends the expiry of a staging site.',
    method: 'POST',
    path: '/staging-sites/{staging_site_id}/extend-expiry',
    // Not specified: the minimum and maximum number of days.
    body: z.strictObject({ days: int }),
    bodyRequired: true,
    success: 200,
    answer: stagingSite,
    errors: [400, 401, 403, 404, 422, 429],
    effect: 'once',
  }),
  resumeStagingSite: operation({
    section: '4.14',
    summary: 'Resumes a paused staging site.',
    method: 'POST',
    path: '/staging-sites/{staging_site_id}/resume',
    success: 200,
    answer: stagingSite,
    errors: [401, 403, 404, 422, 429],
    effect: 'repeatable',
    leadsTo: { status: 'active' },
  }),
  updateStagingSitePhpVersion: operation({
    section: '4.14',
    summary: 'Starts changing the PHP version of a staging site.',
    method: 'POST',
    path: '/staging-sites/{staging_site_id}/update-php-version',
    body: z.strictObject({ staging_site: z.strictObject({ php_version: nonBlank }) }),
    bodyRequired: true,
    success: 200,
    answer: TaskReference,
    errors: [400, 401, 403, 404, 422, 429],
    effect: 'once',
  }),
  downloadStagingSite: operation({
    section: '4.14',
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
    success: 200,
    answer: TaskReference,
    errors: [400, 401, 403, 404, 422, 429],
    effect: 'once',
  }),
  generateStagingSiteWpSsoLoginUrl: operation({
    section: '4.14',
    summary: 'Creates a temporary URL that signs in to a staging site as one of its users.',
    method: 'GET',
    path: '/staging-sites/{staging_site_id}/wp/users/sso-login-url',
    query: z.strictObject({
      wp_object_id: z.optional(z.string().regex(/^\d*$/, 'must be digits, or blank for the default user')),
    }),
    success: 200,
    answer: part({ url: z.string() }, 'url'),
    errors: [400, 401, 403, 404, 422, 429],
  }),
} as const;
