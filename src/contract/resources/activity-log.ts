/** The activity on a site, and its users (spec 2.20). */
import { z } from 'zod';
import { idSchema, known, part, timestamp } from '../schema.ts';

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
