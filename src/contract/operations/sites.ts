/** Sites, their syncs, and enabling backups (spec 4.15). */
import { z } from 'zod';
import { field, flag, ids, listTimestamp, oneOf, text, versionFilter } from '../list.ts';
import { operation } from '../operation.ts';
import { PageMeta, scannerStatuses } from '../resources/shared.ts';
import { ReducedSite, Site, SiteBackupsState, SiteDetails } from '../resources/site.ts';
import { idSchema, nonBlank, part } from '../schema.ts';

const HttpAuth = z.strictObject({ username: z.string(), password: z.string() });
const timeOfDay = z.string().regex(/^\d{2}:\d{2}(:\d{2})?Z$/, 'must be a time of day in UTC such as 02:00Z');
const reduced = part({ site: ReducedSite }, 'site');

export const siteOperations = {
  listSites: operation({
    section: '4.15',
    summary: 'Lists sites.',
    method: 'GET',
    path: '/sites',
    success: 200,
    answer: part({ sites: z.array(Site), meta: PageMeta }, 'sites'),
    errors: [400, 401, 403, 429],
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
    section: '4.15',
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
    errors: [400, 401, 403, 422, 429],
    effect: 'once',
  }),
  showSite: operation({
    section: '4.15',
    summary: 'Shows a site with all details, including connection credentials.',
    method: 'GET',
    path: '/sites/{site_id}',
    success: 200,
    answer: part({ site: SiteDetails }, 'site'),
    errors: [401, 403, 404, 429],
  }),
  deleteSite: operation({
    section: '4.15',
    summary: 'Removes a site from the account.',
    destructive: 'The site is removed from the account, with its history there.',
    method: 'DELETE',
    path: '/sites/{site_id}',
    success: 204,
    errors: [401, 403, 404, 429],
    effect: 'repeatable',
  }),
  updateSite: operation({
    section: '4.15',
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
    success: 200,
    answer: reduced,
    errors: [400, 401, 403, 404, 422, 429],
    effect: 'repeatable',
  }),
  syncSite: operation({
    section: '4.15',
    summary: 'Starts a sync of a site; its snapshot shows the progress.',
    method: 'POST',
    path: '/sites/{site_id}/sync',
    body: z.strictObject({ sync: z.strictObject({ message: z.optional(z.string()) }) }),
    success: 200,
    answer: part({ sync: part({ snapshot_id: idSchema, in_progress: z.boolean() }, 'snapshot_id') }, 'sync'),
    errors: [400, 401, 403, 404, 409, 422, 429],
    effect: 'once',
  }),
  // The row has no name, and its answer and errors are not specified: the errors are those of similar
  // operations.
  enableSiteBackups: operation({
    section: '4.15',
    summary: 'Enables backups for a site whose plan has them.',
    method: 'POST',
    path: '/sites/{site_id}/backups/enable',
    success: 200,
    answer: part({ site: z.optional(SiteBackupsState) }),
    errors: [401, 403, 404, 409, 422, 429],
    effect: 'repeatable',
    leadsTo: { backups: { enabled: true } },
  }),
} as const;
