/** The activity log of a site: listing, enabling and disabling it (spec 4.18). */

import type { ActivityEntry } from '../model/account.ts';
import { cannot } from '../refusal.ts';
import { activityView } from '../views/account.ts';
import { activityOf, noteActivity, serviceDid } from '../world/activity.ts';
import { configure } from '../world/configuration.ts';
import { type Ask, type Handler, lists } from './handler.ts';
import { siteOf } from './lookup.ts';

/** The default range is from the site's creation to now, which is everything. */
export const listSiteActivityLogs = lists<'listSiteActivityLogs', ActivityEntry>({
  items: ({ world, params, now }) => {
    const site = siteOf(world, params.site_id);
    if (!site.activityLogsEnabled) {
      throw cannot('activity_logs_disabled', 'Activity logging is not enabled on this site.');
    }
    return activityOf(world, site).filter(({ at }) => at >= site.createdAt && at <= now);
  },
  fields: {
    timestamp: ({ at }) => at,
    username: (entry) => entry.username,
    ip_address: (entry) => entry.ipAddress,
    object_type: (entry) => entry.objectType,
    event_type: (entry) => entry.eventType,
    search: (entry) => [
      entry.username,
      entry.ipAddress,
      entry.objectType,
      entry.eventType,
      ...Object.values(entry.details).map(String),
    ],
  },
  view: activityView,
});

export const enableSiteActivityLogs: Handler<'enableSiteActivityLogs'> = (ask) => switchLog(ask, true);

export const disableSiteActivityLogs: Handler<'disableSiteActivityLogs'> = (ask) => switchLog(ask, false);

function switchLog(ask: Ask<'enableSiteActivityLogs' | 'disableSiteActivityLogs'>, enabled: boolean) {
  const { world, now, params, changed } = ask;
  const site = siteOf(world, params.site_id);
  // A request for the current state changes nothing and causes no conflict.
  if (site.activityLogsEnabled !== enabled) {
    configure(site, now);
    site.activityLogsEnabled = enabled;
    noteActivity(world, site, serviceDid('site', 'changed', { activity_logs: 'enabled' }), now);
    changed(site.id);
  }
  return { activity_logs: { enabled } };
}
