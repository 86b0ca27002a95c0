/** The view of an entry of a site's activity log (spec 2.20). */
import type { ActivityLogEntry } from '../../contract/resources/activity-log.ts';
import type { ActivityEntry } from '../model/activity.ts';
import { shown } from './timestamp.ts';

export const activityView = (entry: ActivityEntry): ActivityLogEntry => ({
  id: entry.id,
  username: entry.username,
  ip_address: entry.ipAddress,
  country_code: entry.countryCode,
  object_type: entry.objectType,
  event_type: entry.eventType,
  event_details: { ...entry.details },
  timestamp: shown(entry.at),
});
