/**
 * What is known of staging copies (spec 2.16): which are at rest, which are the newest, and which the service
 * is at work on, as far as its tasks tell.
 *
 * The specification shows the input of a task that makes a copy, and none of one that downloads or changes it
 * (2.10). So a task that names a copy is at work on that one, and one that names a live site on any copy of
 * it.
 */

import type { Item } from '../../src/contract/operations.ts';
import type { Api, JobApi } from '../../src/job/api.ts';
import { fieldsOfItem } from '../../src/job/fields.ts';
import { secondsOf } from '../../src/job/instant.ts';
import { formatDuration } from '../../src/job/options.ts';
import { problemWith } from '../../src/job/problem.ts';
import { completed, shown } from '../../src/job/shown.ts';

/** A copy as lists show it: without the credentials that the view of a single one has. */
export type Copy = Item<'listStagingSites'>;
export type StagingTask = Item<'listTasks'>;

/**
 * What a copy is while nothing is done to it. In any other status, also one that we do not know, it is left
 * alone.
 */
export const atRest = ['active', 'paused', 'suspended'] as const;

/** A copy whose status is not shown is not known to be at rest. */
export const isAtRest = ({ status = '' }: Copy): boolean => (atRest as readonly string[]).includes(status);

/** When it was made, in seconds; not a number when the service does not show it. */
const madeAt = ({ created_at = '' }: Copy): number => secondsOf(created_at);

/**
 * What changes when somebody does something with a copy, or time does. Throws when part of it is not shown.
 */
export const stateOf = ({ status, updated_at, expires_at }: Copy): string =>
  [
    shown(status, 'staging.status'),
    secondsOf(shown(updated_at, 'staging.updated_at')),
    secondsOf(shown(expires_at, 'staging.expires_at')),
  ].join(' ');

/** What of a copy itself makes it stale; lengths of time in milliseconds. */
interface Conditions {
  older_than?: number | undefined;
  expires_within?: number | undefined;
  status?: readonly string[] | undefined;
}

/**
 * Why a copy is not stale: every condition that the policy declares has to hold. Throws when one needs what
 * is not shown.
 */
export function whyFresh(copy: Copy, options: Conditions, now: number): string | undefined {
  const { older_than, expires_within, status: wanted } = options;
  const madeAt = Date.parse(shown(copy.created_at, 'staging.created_at'));
  if (older_than !== undefined && madeAt > now - older_than) {
    return `It was made less than ${formatDuration(older_than)} ago (older_than)`;
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
 * The newest copies of each live site, `count` of them. One that is still being made takes nobody's place.
 */
export function newestOfEach(copies: readonly Copy[], count: number): Set<string> {
  const bySite = new Map<string, Copy[]>();
  for (const copy of copies) {
    if (!isAtRest(copy) || Number.isNaN(madeAt(copy))) continue;
    const { site_id = '' } = copy;
    bySite.set(site_id, [...(bySite.get(site_id) ?? []), copy]);
  }
  const newestFirst = (a: Copy, b: Copy) => madeAt(b) - madeAt(a) || (a.id < b.id ? 1 : -1);
  const newest = [...bySite.values()].flatMap((of) => of.sort(newestFirst).slice(0, count));
  return new Set(newest.map(({ id }) => id));
}

/** What makes a copy look stale, for people: `made on 2026-11-02, suspended, expired on 2026-11-16`. */
export function factsOf({ created_at, status, expires_at }: Copy, now: number): string {
  const day = (moment = '') => moment.slice(0, 10);
  const expiry = `${Date.parse(expires_at ?? '') < now ? 'expired' : 'expires'} on ${day(expires_at)}`;
  return [`made on ${day(created_at)}`, status, ...(expires_at ? [expiry] : [])].join(', ');
}

/** What decides on a copy; a list that lacks some of it is completed from single views. */
const deciding = ['site_id', 'status', 'created_at', 'updated_at', 'expires_at'] as const;
/** So many copies of a list are asked for alone. */
const MAX_SINGLE_VIEWS = 100;

/**
 * The copies of a live site, or of all. One request per 100; one more for each of the first 100 of which the
 * list does not show everything that decides.
 */
export async function copiesOf({ all, api }: Pick<JobApi, 'all' | 'api'>, siteId?: string): Promise<Copy[]> {
  const query = siteId === undefined ? {} : { filters: { site_id: { eq: siteId } } };
  const copies: Copy[] = [];
  let left = MAX_SINGLE_VIEWS;
  for await (const copy of all('listStagingSites', query)) {
    const isWhole = deciding.every((field) => copy[field] !== undefined);
    if (isWhole || left === 0) {
      copies.push(copy);
      continue;
    }
    left -= 1;
    const alone = await copyAlone(api, copy.id);
    copies.push(alone ? (completed(fieldsOfItem('listStagingSites'), copy, alone) as Copy) : copy);
  }
  return copies;
}

/** A copy by its single view, without credentials; nothing when it is gone. One request. */
export async function copyAlone(api: Api, staging_site_id: string): Promise<Copy | undefined> {
  try {
    const { staging_site } = await api.showStagingSite({ staging_site_id });
    return completed(fieldsOfItem('listStagingSites'), {}, staging_site) as Copy;
  } catch (error) {
    if (problemWith(error).gone) return undefined;
    throw error;
  }
}

const types = ['staging', 'download_staging', 'configure_staging_site'];
const ended: readonly string[] = ['completed', 'cancelled', 'failed', 'aborted'];

/**
 * The tasks on copies that were started since a moment and have not ended. Three requests, and more from 100
 * tasks on.
 */
export async function stagingTasksSince({ all }: Pick<JobApi, 'all'>, since: number): Promise<StagingTask[]> {
  const tasks: StagingTask[] = [];
  const created_at = { gte: new Date(since).toISOString() };
  for (const type of types) {
    for await (const task of all('listTasks', { filters: { type: { eq: type }, created_at } }))
      tasks.push(task);
  }
  return tasks.filter(isUnderWay);
}

/** A status that we do not know is no end. */
const isUnderWay = ({ status }: StagingTask): boolean => !ended.includes(status);

/**
 * Each of `copies`, all that the account has, that a task is at work on or may be, with that task. One that
 * names nothing we know may be at work on any; but what makes a copy of some other site concerns none of
 * these.
 */
export function copiesAtWork(
  tasks: readonly StagingTask[],
  copies: readonly Copy[],
  sites: ReadonlyMap<string, { url: string }>,
): Map<string, StagingTask> {
  const atWork = new Map<string, StagingTask>();
  for (const task of tasks) {
    const names = namedBy(task);
    const named = copies.filter(({ id, url }) => has(names, id, url));
    const ofSites = copies.filter(({ site_id = '' }) => has(names, site_id, sites.get(site_id)?.url));
    const others = task.type === 'staging' && names.size > 0 ? [] : copies;
    const meant = [named, ofSites, others].find(({ length }) => length > 0) ?? [];
    for (const { id } of meant) atWork.set(id, task);
  }
  return atWork;
}

/**
 * A task since a moment that may be at work on one copy, of which alone we know. One request per 100 tasks
 * since.
 */
export async function taskOnCopySince(
  { all }: Pick<JobApi, 'all'>,
  { id, url, site_id, siteUrl }: Copy & { siteUrl: string },
  since: number,
): Promise<StagingTask | undefined> {
  const created_at = { gte: new Date(since).toISOString() };
  for await (const task of all('listTasks', { filters: { created_at } })) {
    // A task whose type is not shown may be at work on a copy, too.
    if (!isUnderWay(task) || (task.type !== undefined && !types.includes(task.type))) continue;
    const names = namedBy(task);
    if (names.size === 0 || has(names, id, url, site_id, siteUrl)) return task;
  }
  return undefined;
}

/** Ids and addresses; of what kind the ids are, most types leave open. */
const namedBy = ({ input }: StagingTask): Set<string> =>
  new Set((input?.sites ?? []).flatMap(({ id, site_url }) => [id ?? [], site_url ?? []].flat()));

const has = (names: ReadonlySet<string>, ...any: (string | undefined)[]): boolean =>
  any.some((name) => name !== undefined && name !== '' && names.has(name));

/** Why a copy is left alone that a task is at work on, as far as one can tell. */
export const atWorkOn = ({ id, type }: StagingTask): string =>
  `The task ${id} (${type ?? 'of a type not shown'}) is active on it, or may be: the service does not always show the copy.`;
