/**
 * Reads what a run of a ring did to its sites: what its task shows (spec 2.10), how the sites are now, and what policies
 * found on them. Costs one request for each run that has ended and was not read before.
 */
import { hasEnded } from '../../src/contract/operations/shared.ts';
import type { Item } from '../../src/contract/operations.ts';
import type { Api } from '../../src/job/api.ts';
import { siteIdIn } from '../../src/job/candidates.ts';
import type { FindingsOf } from '../../src/job/look.ts';
import { problemWith } from '../../src/job/problem.ts';
import { lastSyncFailed } from '../../src/job/reconcile/find-sync.ts';
import { shown } from '../../src/job/shown.ts';
import { stepErrorOf } from '../../src/job/watch/task.ts';
import { namesItem, type Updates } from './decide.ts';
import type { BrokeKind, RingRun, RunSite } from './evidence.ts';

type Entry = Item<'listAutoUpdateHistory'>;
type Site = Item<'listSites'>;
type Broke = { kind: BrokeKind; why: string };

/** What is recorded about a run: what broke is not shown for ever. */
interface RunRecord {
  /** Whether the task was read after its end. */
  read?: boolean;
  broke: Record<string, Broke>;
  /** The sites that its task, as read after its end, did not begin with. */
  untouched?: string[];
  /** What its schedule named, when the run was first seen and nothing had changed that since. */
  named?: Updates;
  /** Whether its sites were looked at after the soak: what breaks later is not counted. */
  closed?: boolean;
  /** The sites that have a note about it. */
  noted?: string[];
}

/** A run of a ring, with what is recorded and what is to be recorded. */
export interface SurveyedRun extends RingRun {
  task: string;
  status: string;
  /** How many sites the service shows in it, also those that are no evidence. */
  shown: number;
  record: RunRecord;
  /** What broke within the soak that still goes on, or is still so. */
  open: Record<string, Broke>;
  isNew: boolean;
}

/** A run without a task is known by its time. */
export const taskOf = ({ task_id, performed_on }: Entry): string => task_id ?? `none ${performed_on}`;

export interface RunReading {
  api: Api;
  sites: ReadonlyMap<string, Site>;
  now: number;
  soak: number;
  unwell: Readonly<Record<string, string>>;
  checks: Checks;
}

/** Reads what a run did to its sites, as far as it was not read before. */
export async function readRun(
  { api, sites, now, soak, unwell, checks }: RunReading,
  entry: Entry,
  known: string | undefined,
  named: Updates | undefined,
): Promise<SurveyedRun> {
  const record: RunRecord = known === undefined ? { broke: {} } : (JSON.parse(known) as RunRecord);
  const before = JSON.stringify(record);
  if (known === undefined && named) record.named = named;
  const status = shown(entry.status, 'history.status');
  const at = Date.parse(shown(entry.performed_on, 'history.performed_on'));
  // What was not well before the updates says nothing about them.
  const wasUnwell = (id: string) => Date.parse(unwell[id] ?? '') < at;
  // A run with an unknown status has not ended: what its task shows of its sites is not final.
  const ended = hasEnded(status) || status === 'no_updates';
  // A run that completed may have failed at some of its sites.
  if (ended && !record.read && entry.task_id && !(status === 'completed' && record.closed)) {
    await readTask(api, entry.task_id, record, wasUnwell);
    record.read ||= status === 'completed';
  }
  // Of a run that did not complete, sites are not known to be well until its task was read.
  const isUnread = ended && status !== 'completed' && status !== 'cancelled' && !record.read;
  const soaks = !record.closed;
  const open: Record<string, Broke> = {};
  const touched = shown(entry.sites, 'history.sites').filter(({ id }) => !record.untouched?.includes(id));
  const read = touched.flatMap(({ id, wp }): RunSite[] => {
    const site = sites.get(id);
    // A site that the account no longer has shows nothing.
    if ((!site || wasUnwell(id)) && !record.broke[id]) return [];
    const broke = record.broke[id] ?? (soaks && site ? brokenSince(site, at, checks) : undefined);
    if (broke) record.broke[id] = broke;
    if (broke && site && (soaks || brokenSince(site, at, checks))) open[id] = broke;
    const unread = isUnread ? 'what its update did is not shown' : undefined;
    const missing = unread ?? (site ? missingSince(site, at, checks) : undefined);
    return [{ id, url: site?.url, took: tookIn(wp), broke, missing }];
  });
  const isSeen = read.every(({ broke, missing }) => broke || missing === undefined);
  if (ended && read.length > 0 && isSeen && now > at + soak) record.closed = true;
  // What was cancelled was not taken, unless its task shows where it was.
  const taken = status === 'cancelled' && !record.untouched ? [] : read;
  const updates = status === 'cancelled' || record.untouched?.length ? undefined : record.named;
  return {
    at,
    ended,
    sites: taken,
    names: updates && ((item) => namesItem(updates, item)),
    task: taskOf(entry),
    status,
    shown: entry.sites?.length ?? 0,
    record,
    open,
    isNew: JSON.stringify(record) !== before,
  };
}

export function tookIn(wp: NonNullable<Entry['sites']>[number]['wp']): RunSite['took'] {
  const { core, plugins = [], themes = [] } = wp ?? {};
  const of = (kind: string, all: typeof plugins) =>
    all.flatMap(({ filename, target_version: version }) =>
      filename === undefined || version === undefined ? [] : [{ item: `${kind} ${filename}`, version }],
    );
  // Not specified: what a run that leaves the core as it is shows of it.
  const version = core?.target_version;
  const ofCore = !version || version === core?.current_version ? [] : [{ item: 'core', version }];
  return [...ofCore, ...of('plugin', plugins), ...of('theme', themes)];
}

/** Records what the task of a run that has ended shows of its sites. */
async function readTask(
  api: Api,
  task_id: string,
  record: RunRecord,
  wasUnwell: (id: string) => boolean,
): Promise<void> {
  const sites = await sitesOf(api, task_id);
  record.read = sites !== undefined;
  if (!sites) return;
  for (const [id, failure] of Object.entries(failuresIn(sites)))
    if (!wasUnwell(id)) record.broke[id] = failure;
  record.untouched = sites.filter(isUntouched).map(({ id }) => id);
}

type TaskSite = NonNullable<Details['sites']>[number];
type Details = NonNullable<Awaited<ReturnType<Api['showTask']>>['task']['details']>;

const isUntouched = ({ status = '' }: TaskSite) => ['initializing', 'queued', 'cancelled'].includes(status);

/** The sites at which a task failed or was aborted. */
const failuresIn = (sites: readonly TaskSite[]): Record<string, Broke> =>
  Object.fromEntries(
    sites
      .filter(({ status }) => status === 'failed' || status === 'aborted')
      .map((site) => {
        const error = stepErrorOf(site);
        const why =
          `its update ${site.status} ${error ? `at the step ${error.step}: ${error.message ?? 'without a message'}` : ''}`.trim();
        return [site.id, { kind: 'failed', why }];
      }),
  );

/** The sites of a task; undefined when the service does not show them. */
async function sitesOf(api: Api, task_id: string): Promise<TaskSite[] | undefined> {
  try {
    return (await api.showTask({ task_id })).task.details?.sites;
  } catch (error) {
    if (!problemWith(error).gone) throw error;
    return undefined;
  }
}

/** A policy of `findings_of`, with the errors that it found by site. */
interface Check {
  policy: string;
  at: number | undefined;
  unknown: ReadonlySet<string>;
  errors: ReadonlyMap<string, { since: number; why: string }[]>;
}
export type Checks = readonly Check[];

/** What the policies that count as evidence found. Costs no request. */
export const checksOf = (policies: readonly string[], findingsOf: FindingsOf): Promise<Checks> =>
  Promise.all(
    policies.map(async (policy) => {
      const { at, unknown, open } = await findingsOf(policy);
      const errors = new Map<string, { since: number; why: string }[]>();
      for (const { severity, site, target, message, since } of open) {
        if (severity !== 'error') continue;
        const id = site ?? siteIdIn(target);
        errors.set(id, [...(errors.get(id) ?? []), { since, why: `${policy} found: ${message}` }]);
      }
      return { policy, at, unknown, errors };
    }),
  );

/** How a site broke after a time, by what the service shows now and what policies found. */
export function brokenSince(
  { id, connection, security, sync }: Site,
  at: number,
  checks: Checks,
): Broke | undefined {
  if (connection?.status === 'disconnected') return { kind: 'disconnected', why: 'it is disconnected' };
  const { status, malware_detected_at } = security?.scanner ?? {};
  // Without a date, it counts since it was first seen, as all else that is not well.
  if (status === 'hacked' && !(Date.parse(malware_detected_at ?? '') <= at))
    return { kind: 'hacked', why: 'malware was found' };
  if (sync && lastSyncFailed(sync) && Date.parse(sync.last_sync_at ?? '') > at)
    return { kind: 'failed', why: `its sync failed: ${sync.last_sync_error ?? 'without a message'}` };
  for (const { errors } of checks)
    for (const { since, why } of errors.get(id) ?? []) if (since > at) return { kind: 'found', why };
  return undefined;
}

/** What has not been seen of a site since a time. A value that we do not know shows nothing. */
function missingSince(
  { id, connection, sync, security }: Site,
  at: number,
  checks: Checks,
): string | undefined {
  if (connection?.status === undefined) return 'its connection is not shown';
  if (connection.status !== 'connected') return `its connection is "${connection.status}"`;
  const { enabled, scanner } = security ?? {};
  if (security === undefined || (enabled && scanner?.status === undefined)) return 'its scanner is not shown';
  const result = enabled ? scanner?.status : 'clean';
  // Malware from before the updates says nothing about them.
  if (result && result !== 'clean' && result !== 'hacked') return `its scanner shows "${result}"`;
  if (!(Date.parse(sync?.last_sync_at ?? '') > at)) return 'it has not synced since the update';
  if (sync?.last_sync_status === undefined) return 'the result of its sync is not shown';
  const late = checks.find((check) => !((check.at ?? 0) > at) || check.unknown.has(id));
  return late && `${late.policy} has not checked it since the update`;
}
