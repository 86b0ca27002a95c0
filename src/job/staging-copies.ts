/**
 * What is known of staging copies (spec 2.16): which are at rest, which are the newest, and which the service is at work on,
 * as far as its tasks tell.
 *
 * The specification shows the input of a task that makes a copy, and none of one that downloads or changes it (2.10). So a
 * task that names a copy is at work on that one, and one that names a live site on any copy of it.
 */
import type { Item } from '../contract/operations.ts';
import type { Reading } from './job.ts';
import { inWords } from './options.ts';

/** A copy as lists show it: without the credentials that the view of a single one has. */
export type Copy = Item<'listStagingSites'>;
export type StagingTask = Item<'listTasks'>;

/** What a copy is while nothing is done to it. In any other status, also one that we do not know, it is left alone. */
export const atRest = ['active', 'paused', 'suspended'] as const;

export const isAtRest = ({ status = '' }: Copy): boolean => (atRest as readonly string[]).includes(status);

/** When it was made; not a number when the service does not tell. */
export const madeAt = ({ created_at = '' }: Copy): number => Date.parse(created_at);

/** What changes when somebody does something with a copy, or time does. */
export const stateOf = ({ status, updated_at, expires_at }: Copy): string =>
  `${status} ${updated_at} ${expires_at}`;

/** What of a copy itself makes it stale; lengths of time in milliseconds. */
interface Conditions {
  older_than?: number | undefined;
  expires_within?: number | undefined;
  status?: readonly string[] | undefined;
}

/** Why a copy is not stale: every condition that the policy declares has to hold. */
export function whyFresh(copy: Copy, options: Conditions, now: number): string | undefined {
  const { older_than, expires_within, status } = options;
  if (Number.isNaN(madeAt(copy))) return 'The service does not tell when it was made';
  if (older_than !== undefined && madeAt(copy) > now - older_than) {
    return `It was made less than ${inWords(older_than)} ago (older_than)`;
  }
  // A moment that is not told is not a number, and no comparison with it holds.
  if (expires_within !== undefined && !(Date.parse(copy.expires_at ?? '') <= now + expires_within)) {
    return `It does not expire within ${inWords(expires_within)} (expires_within)`;
  }
  if (status && !status.includes(copy.status ?? '')) {
    return `It is ${copy.status ?? 'in no status that the service tells'} (status)`;
  }
  return undefined;
}

/** The newest copies of each live site, `count` of them. One that is still being made takes nobody's place. */
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

/** The copies of a live site, or of all. One request per 100. */
export async function copiesOf({ all }: Pick<Reading, 'all'>, siteId?: string): Promise<Copy[]> {
  const query = siteId === undefined ? {} : { filters: { site_id: { eq: siteId } } };
  const copies: Copy[] = [];
  for await (const copy of all('listStagingSites', query)) copies.push(copy);
  return copies;
}

const types = ['staging', 'download_staging', 'configure_staging_site'];
const ended: readonly string[] = ['completed', 'cancelled', 'failed', 'aborted'];

/** The tasks on copies that were started since a moment and have not ended. Three requests, and more from 100 tasks on. */
export async function stagingTasksSince(
  { all }: Pick<Reading, 'all'>,
  since: number,
): Promise<StagingTask[]> {
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
 * Each of `copies`, all that the account has, that a task is at work on or may be, with that task. One that names nothing
 * we know may be at work on any; but what makes a copy of some other site concerns none of these.
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

/** A task since a moment that may be at work on one copy, of which alone we know. One request per 100 tasks since. */
export async function taskOnCopySince(
  { all }: Pick<Reading, 'all'>,
  { id, url, site_id, siteUrl }: Copy & { siteUrl: string },
  since: number,
): Promise<StagingTask | undefined> {
  const created_at = { gte: new Date(since).toISOString() };
  for await (const task of all('listTasks', { filters: { created_at } })) {
    if (!isUnderWay(task) || !types.includes(task.type ?? '')) continue;
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
  `The task ${id} (${type ?? 'of a type not told'}) is at work on it, or may be: the service does not always tell the copy.`;
