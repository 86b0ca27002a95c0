/** The activity log of a site: listing, enabling and disabling it (spec 4.18). */
import { z } from 'zod';
import { listTimestamp, oneOf, text } from '../list.ts';
import { operation } from '../operation.ts';
import { ActivityLogEntry, eventTypes, objectTypes } from '../resources/activity-log.ts';
import { PageMeta } from '../resources/shared.ts';
import { part } from '../schema.ts';

const activityLogs = part({ activity_logs: part({ enabled: z.boolean() }) }, 'activity_logs');

export const activityLogOperations = {
  listSiteActivityLogs: operation({
    section: '4.18',
    summary: 'Lists the activity log of a site on which it is enabled.',
    method: 'GET',
    path: '/sites/{site_id}/activity-logs',
    success: 200,
    answer: part({ activity_logs: z.array(ActivityLogEntry), meta: PageMeta }, 'activity_logs'),
    errors: [400, 401, 403, 404, 422, 429],
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
    section: '4.18',
    summary: 'Enables the activity log of a site.',
    method: 'POST',
    path: '/sites/{site_id}/activity-logs/enable',
    success: 200,
    answer: activityLogs,
    errors: [401, 403, 404, 409, 422, 429],
    effect: 'repeatable',
    leadsTo: { activity_logs: { enabled: true } },
  }),
  disableSiteActivityLogs: operation({
    section: '4.18',
    summary: 'Disables the activity log of a site.',
    destructive: 'What happens on the site is no longer logged, and cannot be logged later.',
    method: 'POST',
    path: '/sites/{site_id}/activity-logs/disable',
    success: 200,
    answer: activityLogs,
    errors: [401, 403, 404, 409, 422, 429],
    effect: 'repeatable',
    leadsTo: { activity_logs: { enabled: false } },
  }),
} as const;
