/**
 * What a run of an auto update schedule did, site by site (spec 2.9, 2.10): its entry in the history says
 * what was to be updated, and from which version to which; its task, where something went wrong, what became
 * of each site and why.
 */
import { isoMinute } from '../../src/clock.ts';
import type { Item, Answer as ServiceAnswer } from '../../src/contract/operations.ts';
import type { Finding } from '../../src/job/job.ts';
import { stepErrorOf, type TaskSite } from '../../src/job/step-error.ts';
import { countOf } from '../../src/text.ts';

export type HistoryEntry = Item<'listAutoUpdateHistory'>;
export type TaskDetails = ServiceAnswer<'showTask'>['task'];

/** A run that has ended, or still goes on. */
export interface UpdateRun {
  /** When it began, in milliseconds since 1970; 0 when the service does not show it. */
  at: number;
  status: string;
  task?: string;
  /** When its task last changed, in milliseconds since 1970: once it has ended, when it did. */
  changedAt?: number;
  sites: UpdatedSite[];
}

interface UpdatedSite {
  id: string;
  /** `unknown`: the run did not go well, and its task says nothing of this site. */
  came: 'updated' | 'failed' | 'aborted' | 'cancelled' | 'unfinished' | 'unknown';
  /** `Shop 9.1.0 → 9.2.0, core 6.8.2 → 6.8.3`. */
  versions: string;
  /** The step that went wrong and what the service says of it: ` at update_plugin: Disk full.` */
  error?: string;
}

/** So many updates of one site are named. */
const MAX_NAMED = 6;

/** Whether a run is still at work. */
export const isGoing = ({ status }: { status: string }): boolean =>
  status === 'initializing' || status === 'running' || status === 'queued';

/** Whether all that was to be updated was, as far as the history alone tells. */
export const wentWell = ({ status }: { status: string }): boolean =>
  status === 'completed' || status === 'no_updates';

/**
 * Puts together what the history and, where it was asked, the task say of a run. `silent` is a task that was
 * asked and that the service does not show any more: then the history alone proves nothing of the sites.
 */
export function readRun(entry: HistoryEntry, asked?: TaskDetails | 'silent'): UpdateRun {
  const task = asked === 'silent' ? undefined : asked;
  const changedAt = Date.parse(task?.updated_at ?? '');
  const told = new Map(task?.details?.sites?.map((site) => [site.id, site]));
  const isSilent = asked !== undefined && task?.details?.sites === undefined;
  const planned = new Map(entry.sites?.map((site) => [site.id, versionsOf(site)]));
  const ids = new Set([...planned.keys(), ...told.keys()]);
  return {
    at: Date.parse(entry.performed_on ?? '') || 0,
    status: entry.status,
    ...(entry.task_id ? { task: entry.task_id } : {}),
    ...(Number.isNaN(changedAt) ? {} : { changedAt }),
    sites: [...ids].map((id) => {
      const site = told.get(id);
      const versions = planned.get(id) ?? '';
      if (!site)
        return { id, versions, came: entry.status === 'completed' && !isSilent ? 'updated' : 'unknown' };
      const error = errorOf(site);
      return { id, versions, came: cameOf(site.status), ...(error ? { error } : {}) };
    }),
  };
}

/** The share of a run's sites that failed or were aborted, in percent; nothing when that is not known. */
export function failedShare({ status, sites }: UpdateRun): number | undefined {
  if (status === 'no_updates') return 0;
  if (sites.length === 0 || sites.some(({ came }) => came === 'unknown')) return undefined;
  return (100 * sites.filter(isBad).length) / sites.length;
}

/** Whether a run ended well by its status, and the service does not show what became of all of its sites. */
export const isUnclear = ({ status, sites }: UpdateRun): boolean =>
  status === 'completed' && sites.some(({ came }) => came === 'unknown');

/** Whether something failed or was aborted in a run. */
export const wentBadly = ({ status, sites }: UpdateRun): boolean =>
  status === 'failed' || status === 'aborted' || sites.some(isBad);

/**
 * What there is to say of a run: a line about the whole, then one for each site, those that went wrong first.
 * `bad` is how grave a failed update is; `label` gives a site's address.
 */
export function runFindings(
  run: UpdateRun,
  bad: Finding['severity'],
  label: (siteId: string) => string,
): Finding[] {
  const found = run.task === undefined || isGoing(run) ? {} : { task: run.task };
  const whole: Finding = {
    severity: wentBadly(run) ? bad : wentWell(run) ? 'info' : 'warning',
    about: `run of ${inMinutes(run.at)}`,
    message: formatWhole(run),
    ...found,
  };
  if (isGoing(run)) return [whole];
  const sites = run.sites
    .filter(({ came }) => came !== 'unknown')
    .map(
      (site): Finding => ({
        severity: isBad(site) ? bad : site.came === 'updated' ? 'info' : 'warning',
        about: label(site.id),
        message: formatSite(site),
        ...found,
      }),
    );
  return [whole, ...sites.sort((a, b) => gravity[a.severity] - gravity[b.severity])];
}

/** The order in which a person wants to read findings. */
export const gravity: Record<Finding['severity'], number> = { error: 0, warning: 1, info: 2 };

/** A moment of the service as a person reads it; `?` when it is none. */
export function inMinutes(moment: string | number | undefined): string {
  const at = typeof moment === 'number' ? moment : Date.parse(moment ?? '');
  return Number.isNaN(at) || at === 0 ? '?' : isoMinute(at);
}

const isBad = ({ came }: UpdatedSite): boolean => came === 'failed' || came === 'aborted';

function formatWhole(run: UpdateRun): string {
  if (run.status === 'no_updates') return 'There was nothing to update.';
  if (isGoing(run)) {
    return `It is still running${run.task ? ` (task ${run.task})` : ''}; the next check reports how it ended.`;
  }
  return `It ${ends.get(run.status) ?? `ended as "${run.status}"`}: ${formatUpdate(run)}.`;
}

/** `1 updated, 2 failed of 3 sites`. */
export function formatUpdate({ sites }: Pick<UpdateRun, 'sites'>): string {
  const all = countOf(sites.length, 'site');
  if (sites.some(({ came }) => came === 'unknown'))
    return `the service does not say what became of its ${all}`;
  const counts = (['updated', 'failed', 'aborted', 'cancelled', 'unfinished'] as const)
    .map((came) => [sites.filter((site) => site.came === came).length, came] as const)
    .filter(([count]) => count > 0)
    .map(([count, came]) => `${count} ${came}`);
  return counts.length === 0 ? 'it names no sites' : `${counts.join(', ')} of ${all}`;
}

/** A map, since the service may answer any word, such as `constructor`. */
const ends = new Map([
  ['completed', 'completed'],
  ['failed', 'failed'],
  ['aborted', 'was aborted'],
  ['cancelled', 'was cancelled'],
]);

function formatSite({ came, versions, error }: UpdatedSite): string {
  if (came === 'updated') return `Updated${versions ? `: ${versions}` : ''}.`;
  const how = came === 'unfinished' ? 'Was not finished' : `${came[0]?.toUpperCase()}${came.slice(1)}`;
  return `${how}${error ?? '.'}${versions ? ` Was to get ${versions}.` : ''}`;
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

function cameOf(status: string | undefined): UpdatedSite['came'] {
  if (status === undefined) return 'unknown';
  if (status === 'completed') return 'updated';
  return status === 'failed' || status === 'aborted' || status === 'cancelled' ? status : 'unfinished';
}

/** Where it went wrong, in a clause. */
function errorOf(site: TaskSite): string | undefined {
  const error = stepErrorOf(site);
  return error && ` at ${error.step}: ${error.message ?? 'without a message.'}`;
}
