/** The activity log of a site: listing, enabling and disabling it (spec 4.18). */
import { z } from 'zod';
import { listTimestamp, oneOf, text } from '../list.ts';
import { operationsOf } from '../operation.ts';
import { idSchema, known, part, timestamp } from '../schema.ts';
import { PageMeta } from './shared.ts';

// The activity on a site, and its users (spec 2.20).

/** Types of objects of an event. */
export const objectTypes = [
  'post',
  'comment',
  'category',
  'tag',
  'menu',
  'user_profile',
  'plugin',
  'theme',
  'multisite',
  'user',
  'wp_core',
  'site',
  'files',
  'woocommerce_product',
  'woocommerce_order',
  'woocommerce_product_category',
  'woocommerce_product_tag',
  'woocommerce_product_attribute',
  'woocommerce_tax_rate',
  'woocommerce_product_download_access',
  'woocommerce_shipping_zone_method',
  'unknown',
] as const;

/** Types of events. */
export const eventTypes = [
  'added',
  'created',
  'edited',
  'updated',
  'modified',
  'deleted',
  'published',
  'drafted',
  'pending',
  'scheduled',
  'trashed',
  'stuck',
  'unstuck',
  'approved',
  'unapproved',
  'spammed',
  'activated',
  'deactivated',
  'changed',
  'archived',
  'unarchived',
  'login',
  'logout',
  'password_reset',
  'hacked',
  'granted',
  'revoked',
  'status_changed',
  'unknown',
] as const;

export const ActivityLogEntry = part(
  {
    id: idSchema,
    username: z.string(),
    ip_address: z.string(),
    country_code: z.string(),
    object_type: known(...objectTypes),
    event_type: known(...eventTypes),
    event_details: z.record(z.string(), z.unknown()),
    timestamp,
  },
  'id',
);
export type ActivityLogEntry = z.output<typeof ActivityLogEntry>;

const activityLogs = part({ activity_logs: part({ enabled: z.boolean() }) }, 'activity_logs');

const operation = operationsOf('4.18');

export const activityLogOperations = {
  listSiteActivityLogs: operation({
    summary: 'Lists the activity log of a site on which it is enabled.',
    method: 'GET',
    path: '/sites/{site_id}/activity-logs',
    answer: part({ activity_logs: z.array(ActivityLogEntry), meta: PageMeta }, 'activity_logs'),
    errors: [422],
    list: {
      key: 'activity_logs',
      filters: {
        timestamp: listTimestamp('gte', 'lte'),
        username: text('eq', 'contains'),
        ip_address: text('eq', 'contains'),
        object_type: oneOf(objectTypes, 'eq'),
        event_type: oneOf(eventTypes, 'eq'),
        search: text('contains'),
      },
      sorts: ['timestamp', 'object_type', 'event_type', 'username', 'ip_address'],
      defaultSort: 'timestamp,desc',
      timezone: false,
      paged: true,
    },
  }),
  enableSiteActivityLogs: operation({
    summary: 'Enables the activity log of a site.',
    method: 'POST',
    path: '/sites/{site_id}/activity-logs/enable',
    answer: activityLogs,
    errors: [409, 422],
    effect: 'repeatable',
    leadsTo: { activity_logs: { enabled: true } },
  }),
  disableSiteActivityLogs: operation({
    summary: 'Disables the activity log of a site.',
    destructive: 'What happens on the site is no longer logged, and cannot be logged later.',
    method: 'POST',
    path: '/sites/{site_id}/activity-logs/disable',
    answer: activityLogs,
    errors: [409, 422],
    effect: 'repeatable',
    leadsTo: { activity_logs: { enabled: false } },
  }),
} as const;
