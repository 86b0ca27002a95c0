/**
 * Reads what a run of a ring did to its sites: what its task shows (spec 2.10), how the sites are now, and what policies
 * found on them. Costs one request for each run that failed and was not read before.
 */
import type { Item } from '../../src/contract/operations.ts';
import type { Api } from '../../src/job/api.ts';
import { siteIdIn } from '../../src/job/candidates.ts';
import type { FindingsOf } from '../../src/job/look.ts';
import { problemWith } from '../../src/job/problem.ts';
import { shown } from '../../src/job/shown.ts';
import { stepErrorOf } from '../../src/job/watch/task.ts';
import type { BrokeKind, RingRun, RunSite } from './evidence.ts';

type Entry = Item<'listAutoUpdateHistory'>;
type Site = Item<'listSites'>;
type Broke = { kind: BrokeKind; why: string };

/** What is recorded about a run: what broke is not shown for ever. */
interface RunRecord {
  /** Whether the task was read after its end. */
  read?: boolean;
  broke: Record<string, Broke>;
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
): Promise<SurveyedRun> {
  const record: RunRecord = known === undefined ? { broke: {} } : (JSON.parse(known) as RunRecord);
  const before = JSON.stringify(record);
  const status = shown(entry.status, 'history.status');
  const at = Date.parse(shown(entry.performed_on, 'history.performed_on'));
  // What was not well before the updates says nothing about them.
  const wasUnwell = (id: string) => Date.parse(unwell[id] ?? '') < at;
  const ended = status !== 'initializing' && status !== 'running';
  if (ended && !record.read && entry.task_id && status !== 'completed') {
    const failures = await failuresIn(api, entry.task_id);
    for (const [id, failure] of Object.entries(failures ?? {}))
      if (!wasUnwell(id)) record.broke[id] = failure;
    record.read = failures !== undefined;
  }
  // Of a run that did not complete, sites are not known to be well until its task was read.
  const isUnread = ended && status !== 'completed' && status !== 'cancelled' && !record.read;
  const soaks = !record.closed;
  const open: Record<string, Broke> = {};
  const read = shown(entry.sites, 'history.sites').flatMap(({ id, wp }): RunSite[] => {
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
  // What was cancelled was not taken.
  const taken = status === 'cancelled' ? [] : read;
  return {
    at,
    ended,
    sites: taken,
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
  const ofCore = core?.target_version === undefined ? [] : [{ item: 'core', version: core.target_version }];
  return [...ofCore, ...of('plugin', plugins), ...of('theme', themes)];
}

/** The sites at which a task failed or was aborted; undefined when the service does not show them. */
async function failuresIn(api: Api, task_id: string): Promise<Record<string, Broke> | undefined> {
  try {
    const { task } = await api.showTask({ task_id });
    const sites = task.details?.sites;
    return (
      sites &&
      Object.fromEntries(
        sites
          .filter(({ status }) => status === 'failed' || status === 'aborted')
          .map((site) => {
            const error = stepErrorOf(site);
            const why =
              `its update ${site.status} ${error ? `at the step ${error.step}: ${error.message ?? 'without a message'}` : ''}`.trim();
            return [site.id, { kind: 'failed' as const, why }];
          }),
      )
    );
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
  if (status === 'hacked' && Date.parse(malware_detected_at ?? '') > at)
    return { kind: 'hacked', why: 'malware was found' };
  if (sync?.last_sync_status === 'failed' && Date.parse(sync.last_sync_at ?? '') > at)
    return { kind: 'failed', why: `its sync failed: ${sync.last_sync_error ?? 'without a message'}` };
  for (const { errors } of checks)
    for (const { since, why } of errors.get(id) ?? []) if (since > at) return { kind: 'found', why };
  return undefined;
}

/** What has not been seen of a site since a time. */
function missingSince(
  { id, connection, sync, security }: Site,
  at: number,
  checks: Checks,
): string | undefined {
  if (connection?.status === undefined) return 'its connection is not shown';
  if (security === undefined || (security.enabled && security.scanner === undefined))
    return 'its scanner is not shown';
  if (!(Date.parse(sync?.last_sync_at ?? '') > at)) return 'it has not synced since the update';
  const late = checks.find((check) => !((check.at ?? 0) > at) || check.unknown.has(id));
  return late && `${late.policy} has not checked it since the update`;
}
