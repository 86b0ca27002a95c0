/**
 * What is known about staging copies (spec 2.16): which are idle, which are the newest, and which are busy
 * because a task of the service is or may be working on them.
 *
 * The specification shows the input of a task that creates a copy, but not of one that downloads or changes a
 * copy (2.10). So a task that names a copy makes that copy busy, and a task that names a live site makes all
 * copies of the site busy.
 */

import { hasEnded } from '../../src/contract/operations/shared.ts';
import type { Item } from '../../src/contract/operations.ts';
import type { Api, JobApi } from '../../src/job/api.ts';
import { fieldsOfItem } from '../../src/job/fields.ts';
import { formatDuration } from '../../src/job/options.ts';
import { problemWith } from '../../src/job/problem.ts';
import { completed, secondsOf, shown } from '../../src/job/shown.ts';
import { scrub } from '../../src/secrets.ts';

/** A copy as lists show it. Only the single view contains credentials. */
export type Copy = Item<'listStagingSites'>;
export type StagingTask = Item<'listTasks'>;

/** The statuses of a copy that nothing is working on. A copy with another or unknown status is not touched. */
export const idleStatuses = ['active', 'paused', 'suspended'] as const;

/** False for a copy whose status is not shown. */
export const isIdle = ({ status = '' }: Copy): boolean =>
  (idleStatuses as readonly string[]).includes(status);

/** When the copy was created, in seconds; NaN when the service does not show it. */
const createdAt = ({ created_at = '' }: Copy): number => secondsOf(created_at);

/**
 * A text that differs after every change of the copy: by a person, or because it expired. Throws when a field
 * that it needs is not shown.
 */
export const fingerprintOf = ({ status, updated_at, expires_at }: Copy): string =>
  [
    shown(status, 'staging.status'),
    secondsOf(shown(updated_at, 'staging.updated_at')),
    secondsOf(shown(expires_at, 'staging.expires_at')),
  ].join(' ');

/** The conditions on the copy itself; durations in milliseconds. */
interface Conditions {
  older_than?: number | undefined;
  expires_within?: number | undefined;
  status?: readonly string[] | undefined;
}

/**
 * Why a copy is not stale; `undefined` when every condition that the policy declares is met. Throws when a
 * condition needs a field that is not shown.
 */
export function whyNotStale(copy: Copy, options: Conditions, now: number): string | undefined {
  const { older_than, expires_within, status: wanted } = options;
  const createdAt = Date.parse(shown(copy.created_at, 'staging.created_at'));
  if (older_than !== undefined && createdAt > now - older_than) {
    return `It was created less than ${formatDuration(older_than)} ago (older_than)`;
  }
  if (expires_within !== undefined) {
    const expiresAt = Date.parse(shown(copy.expires_at, 'staging.expires_at'));
    if (expiresAt > now + expires_within) {
      return `It does not expire within ${formatDuration(expires_within)} (expires_within)`;
    }
  }
  const status = shown(copy.status, 'staging.status');
  return wanted && !wanted.includes(status) ? `It is ${status} (status)` : undefined;
}

/**
 * The `count` newest copies of each live site. A copy that is not idle, or whose creation date is not shown, is
 * not counted.
 */
export function newestOfEach(copies: readonly Copy[], count: number): Set<string> {
  const bySite = new Map<string, Copy[]>();
  for (const copy of copies) {
    if (!isIdle(copy) || Number.isNaN(createdAt(copy))) continue;
    const { site_id = '' } = copy;
    bySite.set(site_id, [...(bySite.get(site_id) ?? []), copy]);
  }
  const newestFirst = (a: Copy, b: Copy) => createdAt(b) - createdAt(a) || (a.id < b.id ? 1 : -1);
  const newest = [...bySite.values()].flatMap((ofSite) => ofSite.sort(newestFirst).slice(0, count));
  return new Set(newest.map(({ id }) => id));
}

/** The dates and status of a copy, for people: `created on 2026-11-02, suspended, expired on 2026-11-16`. */
export function describeCopy({ created_at, status, expires_at }: Copy, now: number): string {
  const day = (time = '') => time.slice(0, 10);
  const expiry = `${Date.parse(expires_at ?? '') < now ? 'expired' : 'expires'} on ${day(expires_at)}`;
  return [`created on ${day(created_at)}`, status, ...(expires_at ? [expiry] : [])].join(', ');
}

/** The fields that decide about a copy. A field that the list does not show is taken from the single view. */
const decidingFields = ['site_id', 'status', 'created_at', 'updated_at', 'expires_at'] as const;
/** The most single views that are read for one list. */
const MAX_SINGLE_VIEWS = 100;

/**
 * The copies of one live site, or of all. Costs one request per 100 copies, and one for each copy (at most
 * 100) for which the list does not show every decidingFields field.
 */
export async function copiesOf({ all, api }: Pick<JobApi, 'all' | 'api'>, siteId?: string): Promise<Copy[]> {
  const query = siteId === undefined ? {} : { filters: { site_id: { eq: siteId } } };
  const copies: Copy[] = [];
  let viewsLeft = MAX_SINGLE_VIEWS;
  for await (const copy of all('listStagingSites', query)) {
    const isComplete = decidingFields.every((field) => copy[field] !== undefined);
    if (isComplete || viewsLeft === 0) {
      copies.push(copy);
      continue;
    }
    viewsLeft -= 1;
    const single = await showCopy(api, copy.id);
    copies.push(single ? (completed(fieldsOfItem('listStagingSites'), copy, single) as Copy) : copy);
  }
  return copies;
}

/** A copy from its single view, without credentials; `undefined` when it is gone. One request. */
export async function showCopy(api: Api, staging_site_id: string): Promise<Copy | undefined> {
  try {
    const { staging_site } = await api.showStagingSite({ staging_site_id });
    return completed(fieldsOfItem('listStagingSites'), {}, staging_site) as Copy;
  } catch (error) {
    if (problemWith(error).gone) return undefined;
    throw error;
  }
}

const types = ['staging', 'download_staging', 'configure_staging_site'];

/**
 * The tasks on copies that were started since a time and have not ended. Costs three requests, and more if
 * there are more than 100 tasks of a type.
 */
export async function stagingTasksSince({ all }: Pick<JobApi, 'all'>, since: number): Promise<StagingTask[]> {
  const tasks: StagingTask[] = [];
  const created_at = { gte: new Date(since).toISOString() };
  for (const type of types) {
    for await (const task of all('listTasks', { filters: { type: { eq: type }, created_at } }))
      tasks.push(task);
  }
  return tasks.filter(isInProgress);
}

/** A task with an unknown status counts as in progress. */
const isInProgress = ({ status }: StagingTask): boolean => !hasEnded(status);

/**
 * The busy copies, each with the task that is or may be working on it. `copies` are all of the account. A task
 * that names nothing we know may be working on any copy. A task that creates a copy is an exception: if it
 * names something else, it is for another site and concerns none of these copies.
 */
export function busyCopies(
  tasks: readonly StagingTask[],
  copies: readonly Copy[],
  sites: ReadonlyMap<string, { url: string }>,
): Map<string, StagingTask> {
  const busy = new Map<string, StagingTask>();
  for (const task of tasks) {
    const names = namesIn(task);
    const named = copies.filter(({ id, url }) => includesAny(names, id, url));
    const ofSites = copies.filter(({ site_id = '' }) => includesAny(names, site_id, sites.get(site_id)?.url));
    const others = task.type === 'staging' && names.size > 0 ? [] : copies;
    const concerned = [named, ofSites, others].find(({ length }) => length > 0) ?? [];
    for (const { id } of concerned) busy.set(id, task);
  }
  return busy;
}

/**
 * A task that was started since a time and is or may be working on this copy. Unlike `busyCopies`, it knows no
 * other copies, so any task that names nothing counts. Costs one request per 100 tasks since then.
 */
export async function taskOnCopySince(
  { all }: Pick<JobApi, 'all'>,
  { id, url, site_id, siteUrl }: Copy & { siteUrl: string },
  since: number,
): Promise<StagingTask | undefined> {
  const created_at = { gte: new Date(since).toISOString() };
  for await (const task of all('listTasks', { filters: { created_at } })) {
    // A task whose type is not shown may be working on a copy too.
    if (!isInProgress(task) || (task.type !== undefined && !types.includes(task.type))) continue;
    const names = namesIn(task);
    if (names.size === 0 || includesAny(names, id, url, site_id, siteUrl)) return task;
  }
  return undefined;
}

/** The ids and addresses that a task names. For most types the service does not show what the ids identify. */
const namesIn = ({ input }: StagingTask): Set<string> =>
  new Set((input?.sites ?? []).flatMap(({ id, site_url }) => [id ?? [], site_url ?? []].flat().map(scrub)));

/** Redacted, because the address of a site in the records is. */
const includesAny = (names: ReadonlySet<string>, ...any: (string | undefined)[]): boolean =>
  any.some((name) => name !== undefined && name !== '' && names.has(scrub(name)));

/** Why a busy copy is not touched. */
export const whyBusy = ({ id, type }: StagingTask): string =>
  `The task ${id} (${type ?? 'type not shown'}) is or may be working on it: the service does not always show which copy a task is for.`;

// The live sites that staging copies were made of.

type Site = Item<'listSites'>;

/** The most single views that are read because the list does not show the tags of a site. */
const MAX_SITE_VIEWS = 100;

/**
 * The live sites of these copies, by id. Costs one request per 100 sites until each is found; with `withTags`,
 * one more for each site (at most 100) whose tags the list does not show.
 */
export async function liveSitesOf(
  { all, api }: Pick<JobApi, 'all' | 'api'>,
  copies: readonly { site_id?: string | undefined }[],
  withTags: boolean,
): Promise<Map<string, Site>> {
  const wanted = new Set(copies.flatMap(({ site_id }) => site_id ?? []));
  const sites = new Map<string, Site>();
  if (wanted.size === 0) return sites;
  for await (const site of all('listSites', {})) {
    if (wanted.delete(site.id)) sites.set(site.id, site);
    if (wanted.size === 0) break;
  }
  const tagsNotShown = withTags ? [...sites.values()].filter(({ tags }) => tags === undefined) : [];
  for (const site of tagsNotShown.slice(0, MAX_SITE_VIEWS)) sites.set(site.id, await showSite(api, site));
  return sites;
}

/** A site completed from its single view; unchanged when it has left the account. One request. */
async function showSite(api: Api, site: Site): Promise<Site> {
  try {
    const single = (await api.showSite({ site_id: site.id })).site;
    return completed(fieldsOfItem('listSites'), site, single) as Site;
  } catch (error) {
    if (!problemWith(error).gone) throw error;
    return site;
  }
}

// Tags in the options of the job, by their ids.

/** The account's tags, compared with those that the options name. */
export interface AccountTags {
  /** The ids of wanted tags that the account does not have. */
  missing: readonly string[];
  /** The names of the account's tags, by id. */
  names: ReadonlyMap<string, string>;
}

/** The first of `wanted` that is among `tags`. */
export const firstTag = (wanted: readonly string[], tags: readonly { id: string }[]): string | undefined =>
  wanted.find((one) => tags.some(({ id }) => id === one));

/** A tag as people know it. */
export const tagName = (id: string, { names }: Pick<AccountTags, 'names'>): string => names.get(id) ?? id;

/** Looks up `wanted` in the tags of the account. Costs one request per 100 tags, or none if nothing is wanted. */
export async function lookUpTags(
  { all }: Pick<JobApi, 'all'>,
  wanted: readonly string[],
): Promise<AccountTags> {
  const names = new Map<string, string>();
  if (wanted.length === 0) return { missing: [], names };
  for await (const { id, name } of all('listTags', {})) names.set(id, name);
  return { missing: wanted.filter((id) => !names.has(id)), names };
}
