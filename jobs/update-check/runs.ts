/**
 * What a run of an auto update schedule did, site by site (spec 2.9, 2.10). Its entry in the history shows
 * what was planned, with versions. Its task, which is read after a failure, shows the result of each site.
 */
import { isoMinute } from '../../src/clock.ts';
import type { Item, Answer as ServiceAnswer } from '../../src/contract/operations.ts';
import type { Finding } from '../../src/job/job.ts';
import { stepErrorOf, type TaskSite } from '../../src/job/watch/task.ts';
import { countOf } from '../../src/text.ts';

export type HistoryEntry = Item<'listAutoUpdateHistory'>;
export type TaskDetails = ServiceAnswer<'showTask'>['task'];

/** A run, ended or in progress. */
export interface UpdateRun {
  /** When it started, in milliseconds since 1970; 0 when the service does not show it. */
  at: number;
  status: string;
  task?: string;
  /** When its task last changed, in milliseconds since 1970. For a run that has ended, this is its end. */
  changedAt?: number;
  sites: UpdatedSite[];
}

interface UpdatedSite {
  id: string;
  /** `unknown`: neither the run nor its task shows the result of this site. */
  result: 'updated' | 'failed' | 'aborted' | 'cancelled' | 'unfinished' | 'unknown';
  /** `Shop 9.1.0 → 9.2.0, core 6.8.2 → 6.8.3`. */
  versions: string;
  /** The step that failed and its error, as a clause: ` at update_plugin: Disk full.` */
  error?: string;
}

/** The event that a run as a whole is; that of a site is its id. */
const WHOLE_RUN = 'run';
/** The most updates of one site that are named. */
const MAX_NAMED = 6;

export const isInProgress = ({ status }: { status: string }): boolean =>
  status === 'initializing' || status === 'running' || status === 'queued';

/** Whether all planned updates were made, according to the history alone. */
export const isSuccessful = ({ status }: { status: string }): boolean =>
  status === 'completed' || status === 'no_updates';

/**
 * A run from its entry in the history and, if it was read, its task. `not-found`: the task was read and the
 * service no longer has it. Then the history alone proves nothing about the sites.
 */
export function readRun(entry: HistoryEntry, details?: TaskDetails | 'not-found'): UpdateRun {
  const task = details === 'not-found' ? undefined : details;
  const changedAt = Date.parse(task?.updated_at ?? '');
  const taskSites = new Map(task?.details?.sites?.map((site) => [site.id, site]));
  const lacksResults = details !== undefined && task?.details?.sites === undefined;
  const planned = new Map(entry.sites?.map((site) => [site.id, versionsOf(site)]));
  const ids = new Set([...planned.keys(), ...taskSites.keys()]);
  return {
    at: Date.parse(entry.performed_on ?? '') || 0,
    status: entry.status,
    ...(entry.task_id ? { task: entry.task_id } : {}),
    ...(Number.isNaN(changedAt) ? {} : { changedAt }),
    sites: [...ids].map((id) => {
      const site = taskSites.get(id);
      const versions = planned.get(id) ?? '';
      if (!site)
        return {
          id,
          versions,
          result: entry.status === 'completed' && !lacksResults ? 'updated' : 'unknown',
        };
      const error = errorOf(site);
      return { id, versions, result: resultOf(site.status), ...(error ? { error } : {}) };
    }),
  };
}

/** The percentage of a run's sites that failed or were aborted; `undefined` when it is not known. */
export function failedPercentage({ status, sites }: UpdateRun): number | undefined {
  if (status === 'no_updates') return 0;
  if (sites.length === 0 || sites.some(({ result }) => result === 'unknown')) return undefined;
  return (100 * sites.filter(isFailure).length) / sites.length;
}

/** Whether a run completed, but the service does not show the results of all its sites. */
export const isUnclear = ({ status, sites }: UpdateRun): boolean =>
  status === 'completed' && sites.some(({ result }) => result === 'unknown');

/** Whether a run, or at least one of its sites, failed or was aborted. */
export const hasFailures = ({ status, sites }: UpdateRun): boolean =>
  status === 'failed' || status === 'aborted' || sites.some(isFailure);

/**
 * The findings of a run: one for the whole run, then one for each site, the most severe first.
 * `failureSeverity` is the severity of a failed update; `label` gives a site's address.
 */
export function runFindings(
  run: UpdateRun,
  failureSeverity: Finding['severity'],
  label: (siteId: string) => string,
): Finding[] {
  const task = run.task === undefined || isInProgress(run) ? {} : { task: run.task };
  const severity = hasFailures(run) ? failureSeverity : isSuccessful(run) ? 'info' : 'warning';
  const whole: Finding = {
    severity,
    about: `run of ${formatMinute(run.at)}`,
    message: formatWhole(run),
    ...task,
  };
  if (isInProgress(run)) return [whole];
  const updated = run.sites.flatMap(({ id, result }) => (result === 'updated' ? [id] : []));
  whole.settles = [WHOLE_RUN, ...updated];
  if (severity !== 'info') whole.event = WHOLE_RUN;
  const sites = run.sites
    .filter(({ result }) => result !== 'unknown')
    .map(
      (site): Finding => ({
        severity: isFailure(site) ? failureSeverity : site.result === 'updated' ? 'info' : 'warning',
        about: label(site.id),
        message: formatSite(site),
        ...task,
        ...(site.result === 'updated' ? {} : { event: site.id }),
      }),
    );
  return [whole, ...sites.sort((a, b) => severityOrder[a.severity] - severityOrder[b.severity])];
}

/**
 * The findings of several runs, newest first: what a later one of them made good is not an event that stays open.
 */
export function unsettled(ofRuns: readonly Finding[][]): Finding[][] {
  const settled = new Set<string>();
  return ofRuns.map((findings) => {
    const open = findings.map(({ event, ...finding }) =>
      event === undefined || settled.has(event) ? finding : { ...finding, event },
    );
    for (const key of findings.flatMap(({ settles = [] }) => settles)) settled.add(key);
    return open;
  });
}

/** The order in which findings are shown. */
export const severityOrder: Record<Finding['severity'], number> = { error: 0, warning: 1, info: 2 };

/** A time of the service for people, to the minute; `?` when it is not shown. */
export function formatMinute(time: string | number | undefined): string {
  const at = typeof time === 'number' ? time : Date.parse(time ?? '');
  return Number.isNaN(at) || at === 0 ? '?' : isoMinute(at);
}

const isFailure = ({ result }: UpdatedSite): boolean => result === 'failed' || result === 'aborted';

function formatWhole(run: UpdateRun): string {
  if (run.status === 'no_updates') return 'There was nothing to update.';
  if (isInProgress(run)) {
    return `It is still running${run.task ? ` (task ${run.task})` : ''}; the next check reports how it ended.`;
  }
  return `It ${ends.get(run.status) ?? `ended as "${run.status}"`}: ${formatUpdate(run)}.`;
}

/** `1 updated, 2 failed of 3 sites`. */
export function formatUpdate({ sites }: Pick<UpdateRun, 'sites'>): string {
  const all = countOf(sites.length, 'site');
  if (sites.some(({ result }) => result === 'unknown'))
    return `the service does not show the results of its ${all}`;
  const counts = (['updated', 'failed', 'aborted', 'cancelled', 'unfinished'] as const)
    .map((result) => [sites.filter((site) => site.result === result).length, result] as const)
    .filter(([count]) => count > 0)
    .map(([count, result]) => `${count} ${result}`);
  return counts.length === 0 ? 'it lists no sites' : `${counts.join(', ')} of ${all}`;
}

/** A map, because the status can be any word, such as `constructor`. */
const ends = new Map([
  ['completed', 'completed'],
  ['failed', 'failed'],
  ['aborted', 'was aborted'],
  ['cancelled', 'was cancelled'],
]);

function formatSite({ result, versions, error }: UpdatedSite): string {
  if (result === 'updated') return `Updated${versions ? `: ${versions}` : ''}.`;
  const how = result === 'unfinished' ? 'Not finished' : `${result[0]?.toUpperCase()}${result.slice(1)}`;
  return `${how}${error ?? '.'}${versions ? ` Planned: ${versions}.` : ''}`;
}

function versionsOf({ wp }: NonNullable<HistoryEntry['sites']>[number]): string {
  const updates = [
    ...(wp?.core ? [{ ...wp.core, name: 'core' }] : []),
    ...(wp?.plugins ?? []),
    ...(wp?.themes ?? []),
  ].map((one) => {
    const name = one.name ?? ('slug' in one ? one.slug : undefined) ?? 'something';
    return `${name} ${one.current_version ?? '?'} → ${one.target_version ?? '?'}`;
  });
  const more = updates.length - MAX_NAMED;
  return more > 0 ? `${updates.slice(0, MAX_NAMED).join(', ')} and ${more} more` : updates.join(', ');
}

function resultOf(status: string | undefined): UpdatedSite['result'] {
  if (status === undefined) return 'unknown';
  if (status === 'completed') return 'updated';
  return status === 'failed' || status === 'aborted' || status === 'cancelled' ? status : 'unfinished';
}

/** The step that failed and its error, as a clause. */
function errorOf(site: TaskSite): string | undefined {
  const error = stepErrorOf(site);
  return error && ` at ${error.step}: ${error.message ?? 'without a message.'}`;
}
