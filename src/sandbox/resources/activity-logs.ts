/** The activity log of a site: listing, enabling and disabling it (spec 4.18). */
import type { ActivityLogEntry } from '../../contract/operations/activity-logs.ts';
import type { ActivityEntry, Happening } from '../model/account.ts';
import type { Site } from '../model/site.ts';
import type { World } from '../model/world.ts';
import { cannot } from '../refusal.ts';
import { idOf, type Random, randomFrom, seedOf } from '../world/numbers.ts';
import { configure } from '../world/sites.ts';
import { DAY } from '../world/time.ts';
import { type Ask, type Handler, lists, shown, siteOf } from './handler.ts';

/** The view of an entry of a site's activity log (spec 2.20). */
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

// The activity on a site, and its users (spec 2.20). It is recorded only while the site's log is on.

type PastKind = readonly [objectType: string, eventType: string, details: Record<string, unknown>];

/** How far back the log of a site goes at the start, and its maximum number of entries then. */
const PAST_DAYS = 30;
const PAST_ENTRIES = 25;

/**
 * The log of a site, oldest first. Entries from before the sandbox started are generated each time, always
 * the same.
 */
export function activityOf(world: World, site: Site): ActivityEntry[] {
  const since = world.activity.get(site.id) ?? [];
  return site.activityBefore ? [...pastActivity(world, site), ...since] : [...since];
}

/** Records an event, if the site's log is on. */
export function noteActivity(world: World, site: Site, happening: Happening, at: number): void {
  if (!site.activityLogsEnabled) return;
  const since = world.activity.get(site.id) ?? [];
  since.push({ id: idOfEntry(site, PAST_ENTRIES + since.length + 1), at, ...happening });
  world.activity.set(site.id, since);
}

/** An event that the service causes at a caller's request. */
export const serviceDid = (
  objectType: string,
  eventType: string,
  details: Record<string, unknown> = {},
): Happening => ({
  username: 'site-management',
  ipAddress: '192.0.2.10',
  countryCode: 'US',
  objectType,
  eventType,
  details,
});

const idOfEntry = (site: Site, number: number): string =>
  `${idOf('event', site.number)}-${String(number).padStart(4, '0')}`;

function pastActivity(world: World, site: Site): ActivityEntry[] {
  const random = randomFrom(seedOf(world.seed, `activity ${site.number}`));
  const from = Math.max(site.createdAt, world.startedAt - PAST_DAYS * DAY);
  return Array.from({ length: random.between(5, PAST_ENTRIES) }, () =>
    Math.floor(from + random.next() * (world.startedAt - from)),
  )
    .sort((left, right) => left - right)
    .map((at, nth) => ({ id: idOfEntry(site, nth + 1), at, ...pastHappening(random) }));
}

function pastHappening(random: Random): Happening {
  const [objectType, eventType, details] = random.pick(pastKinds);
  return {
    username: random.pick(['ada', 'ben', 'chiara', 'editor']),
    // Reserved documentation addresses (RFC 5737).
    ipAddress: `203.0.113.${random.between(1, 6)}`,
    countryCode: random.pick(['DE', 'FR', 'US']),
    objectType,
    eventType,
    details,
  };
}

const pastKinds: readonly [PastKind, ...PastKind[]] = [
  ['user', 'login', {}],
  ['user', 'logout', {}],
  ['post', 'published', { title: 'Opening hours' }],
  ['post', 'edited', { title: 'About us' }],
  ['comment', 'spammed', {}],
  ['plugin', 'updated', { name: 'Contact Form', version: '5.9.8' }],
  ['plugin', 'activated', { name: 'Gallery' }],
  ['theme', 'updated', { name: 'Harbor' }],
  ['woocommerce_order', 'status_changed', { from: 'processing', to: 'completed' }],
  ['files', 'modified', { path: 'wp-content/uploads' }],
];

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
