/**
 * The findings and the outcome of a schedule and of a site, and the change that a schedule needs. All functions
 * are pure: they work on what was read before.
 */

import type { End } from '../../src/job/answer.ts';
import type { Finding } from '../../src/job/job.ts';
import { formatDuration } from '../../src/job/options.ts';
import { countOf } from '../../src/text.ts';
import type { FoundSite } from './core-coverage.ts';
import type { ScheduleHistory, UpdateSchedule } from './history.ts';
import {
  failedPercentage,
  formatMinute,
  formatUpdate,
  hasFailures,
  isInProgress,
  isUnclear,
  runFindings,
  severityOrder,
  type UpdateRun,
  unsettled,
} from './runs.ts';

/** The problems that a check can find, the most severe first, each with its reason. */
export const conditions = {
  failed: 'update-failed',
  vulnerable: 'vulnerable',
  overdue: 'overdue',
  uncovered: 'uncovered',
  paused: 'schedule-paused',
  'no-history': 'no-history',
} as const;
export type Condition = keyof typeof conditions;
/** All of them, the most severe first. */
export const allConditions = Object.keys(conditions) as Condition[];

/** The options of the policy that are needed here. */
export interface CheckOptions {
  fail_on: readonly Condition[];
  overdue_after: number;
  enable_paused: boolean;
  pause_on_failed_rate?: number | undefined;
}

/** The changes that a check can make to a schedule, and the status of the schedule afterwards. */
export const effects = { enableAutoUpdateSchedule: 'active', disableAutoUpdateSchedule: 'paused' } as const;
export type Effect = keyof typeof effects;

/** A schedule and what was read about it. */
export interface ExaminedSchedule extends Pick<ScheduleHistory, 'schedule' | 'since' | 'unreported'> {
  /** The runs to report, newest first. */
  runs: UpdateRun[];
  /** The last run of the schedule, reported or not. */
  latest?: UpdateRun;
  /** The change that this check made. */
  did?: Effect | undefined;
  /** The service's message when it refused that change. */
  refused?: string | undefined;
}

/** A schedule that was changed longer than this after a failed run counts as fixed: it gets another chance. */
const CHANGED_AFTER_MS = 600_000;
/** The most findings that are stored for one target. */
const MAX_LINES = 100;

/** The change that a schedule needs, if any. In doubt, none. */
export function effectOn(
  { schedule, runs, latest }: ExaminedSchedule,
  options: CheckOptions,
): Effect | undefined {
  const { enable_paused: enables, pause_on_failed_rate: rate } = options;
  if (schedule.status === 'paused' && enables && !staysPaused(latest, rate))
    return 'enableAutoUpdateSchedule';
  if (schedule.status !== 'active' || rate === undefined || !latest || !runs.includes(latest))
    return undefined;
  // A schedule that does not show when it was changed may have been fixed, so it is not paused.
  const isUnchanged = Date.parse(schedule.updated_at ?? '') <= (latest.changedAt ?? 0) + CHANGED_AFTER_MS;
  return exceedsRate(latest, rate) && isUnchanged ? 'disableAutoUpdateSchedule' : undefined;
}

/** Whether a paused schedule would be paused again because of its last run, or that cannot be decided. */
const staysPaused = (latest: UpdateRun | undefined, rate: number | undefined): boolean =>
  rate !== undefined && latest !== undefined && (failedPercentage(latest) ?? 100) > rate;

const exceedsRate = (run: UpdateRun, rate: number): boolean =>
  !isInProgress(run) && (failedPercentage(run) ?? 0) > rate;

const severityOf = (condition: Condition, { fail_on }: CheckOptions): Finding['severity'] =>
  fail_on.includes(condition) ? 'error' : 'warning';

/** The end of a target with these problems: `failed` if `fail_on` names one of them, otherwise `skipped`. */
function endOf(met: ReadonlySet<Condition>, { fail_on }: CheckOptions): Pick<End, 'is' | 'reason'> {
  const bySeverity = allConditions.filter((condition) => met.has(condition));
  const failing = bySeverity.find((condition) => fail_on.includes(condition));
  const first = failing ?? bySeverity[0];
  if (!first) return { is: 'done', reason: 'done' };
  return { is: failing ? 'failed' : 'skipped', reason: conditions[first] };
}

type Label = (siteId: string) => string;

/** The outcome and the findings of a schedule. */
export function scheduleEnd(
  examined: ExaminedSchedule,
  options: CheckOptions,
  now: number,
  label: Label,
): End {
  const { schedule, runs, refused } = examined;
  const met = new Set<Condition>();
  if (runs.some(hasFailures)) met.add('failed');
  if (isOverdue(examined, options, now)) met.add('overdue');
  if (schedule.status === 'paused') met.add('paused');
  if (!examined.latest && hasStarted(schedule, now)) met.add('no-history');
  const findings = findingsOf(examined, met, options, now, label);
  const detail = detailOf(examined, met, now);
  if (refused !== undefined) return { is: 'failed', reason: 'rejected', detail: refused, findings };
  const end = endOf(met, options);
  if (end.is !== 'done') return { ...end, detail, findings };
  if (runs.some(isInProgress)) return { is: 'skipped', reason: 'timeout', detail, findings };
  // No failure is known, but the success of some sites is not known either.
  if (runs.some(isUnclear)) return { is: 'skipped', reason: 'not-eligible', detail, findings };
  if (!examined.latest) return { is: 'skipped', reason: 'no-history', detail, findings };
  return { ...end, detail, findings };
}

const hasStarted = ({ started_at }: UpdateSchedule, now: number): boolean =>
  !(Date.parse(started_at ?? '') > now);

/** Whether an active schedule has not run although it was due. A run since then counts, even one in progress. */
function isOverdue(
  { schedule, latest }: ExaminedSchedule,
  { overdue_after }: CheckOptions,
  now: number,
): boolean {
  const due = Date.parse(schedule.next_update_at ?? '');
  return schedule.status === 'active' && due + overdue_after < now && !(latest && latest.at >= due);
}

function findingsOf(
  examined: ExaminedSchedule,
  met: ReadonlySet<Condition>,
  options: CheckOptions,
  now: number,
  label: Label,
): Finding[] {
  const { runs, unreported, since, refused, did } = examined;
  const own: Finding[] = [scheduleFinding(examined, met, options, now)];
  if (refused !== undefined && did) {
    const what = effects[did] === 'active' ? 'enabled' : 'paused';
    own.push({ severity: 'error', about: 'schedule', message: `It could not be ${what}: ${refused}` });
  }
  const ofRuns = unsettled(runs.map((run) => runFindings(run, severityOf('failed', options), label)));
  const older: Finding[] =
    unreported === 0
      ? []
      : [
          {
            severity: 'warning',
            about: 'more runs',
            message: `${unreported} older runs since ${formatMinute(since)} are not reported.`,
          },
        ];
  const all = [...own, ...ofRuns.flat(), ...older];
  if (all.length <= MAX_LINES) return all;
  // When there are too many, every run keeps its own finding, because the next check needs it to know what was
  // reported. Of the sites, the most severe findings come first.
  const ofSites = ofRuns
    .flatMap(([, ...rest]) => rest)
    .sort((a, b) => severityOrder[a.severity] - severityOrder[b.severity]);
  return [...own, ...ofRuns.flatMap(([whole]) => whole ?? []), ...older, ...ofSites];
}

/** The finding about the schedule itself. It is always there: it shows the next check that this one was done. */
function scheduleFinding(
  { schedule, latest, did }: ExaminedSchedule,
  met: ReadonlySet<Condition>,
  options: CheckOptions,
  now: number,
): Finding {
  // A problem that makes the schedule fail makes the line an error, so that a failed target has one.
  const fails = (['overdue', 'paused', 'no-history'] as const).some(
    (condition) => met.has(condition) && options.fail_on.includes(condition),
  );
  const line = (warning: Condition | boolean, message: string): Finding => {
    const isWarning = typeof warning === 'string' ? met.has(warning) : warning;
    return { severity: fails ? 'error' : isWarning ? 'warning' : 'info', about: 'schedule', message };
  };
  const rate = options.pause_on_failed_rate;
  const next = formatMinute(schedule.next_update_at);
  if (schedule.status === 'paused') {
    const because =
      latest && rate !== undefined && staysPaused(latest, rate) ? explainPercentage(latest, rate) : '';
    if (did === 'disableAutoUpdateSchedule') {
      return line('paused', `Paused by this check${because}. Enable it when the cause is fixed.`);
    }
    const stays = options.enable_paused && because ? ` It is not enabled${because}.` : '';
    return line('paused', `Paused: it updates nothing until it is enabled.${stays}`);
  }
  const how = `${schedule.schedule ?? 'interval not shown'}, for ${sitesOf(schedule)}`;
  if (schedule.status !== 'active') return line(false, `Its status is "${schedule.status}" (${how}).`);
  if (did === 'enableAutoUpdateSchedule')
    return line(
      true,
      `Was paused; enabled by this check.${latest ? '' : ' It has never run.'} The next run is due ${next}.`,
    );
  if (met.has('overdue')) return line('overdue', `Active (${how}), but it was due ${next} and has not run.`);
  if (!latest) {
    const state = hasStarted(schedule, now) ? 'it has never run' : 'it has not started';
    return line('no-history', `Active (${how}); ${state}. The first run is due ${next}.`);
  }
  return line(false, `Active (${how}). The next run is due ${next}.`);
}

function explainPercentage(latest: UpdateRun, rate: number): string {
  const percentage = failedPercentage(latest);
  return percentage === undefined
    ? ', because it is unknown on how many sites its last run failed'
    : `, because its last run failed on ${Math.round(percentage)}% of its sites, which is more than ${rate}%`;
}

function sitesOf({ scope }: UpdateSchedule): string {
  const { selection, ids } = scope?.sites ?? {};
  if (selection === 'all') return 'all sites';
  return ids ? countOf(ids.length, 'site') : 'sites that the service does not show';
}

/** A summary in one or a few short sentences. */
function detailOf(
  { schedule, runs, since, latest }: ExaminedSchedule,
  met: ReadonlySet<Condition>,
  now: number,
): string {
  const sentences: string[] = [];
  const ended = runs.filter((run) => !isInProgress(run));
  const [latestFailed, ...more] = ended.filter(hasFailures);
  const count = countOf(ended.length, 'run');
  if (latestFailed && more.length === 0)
    sentences.push(`In the run of ${formatMinute(latestFailed.at)}: ${formatUpdate(latestFailed)}.`);
  else if (latestFailed) {
    sentences.push(
      `${more.length + 1} of ${count} since ${formatMinute(since)} failed. In the latest of them: ${formatUpdate(latestFailed)}.`,
    );
  } else if (ended.length > 0) {
    const updated = ended.flatMap(({ sites }) => sites).filter(({ result }) => result === 'updated').length;
    const unclear = ended.filter(isUnclear).length;
    const rest = unclear === 0 ? 'none failed' : `but not all sites of ${countOf(unclear, 'run')} are shown`;
    sentences.push(`${countOf(updated, 'site update')} in ${count} since ${formatMinute(since)}, ${rest}.`);
  }
  if (runs.some(isInProgress)) sentences.push('A run is still in progress.');
  if (met.has('overdue'))
    sentences.push(`It was due ${formatMinute(schedule.next_update_at)} and has not run.`);
  if (schedule.status === 'paused') sentences.push('It is paused.');
  else if (!latest) {
    const first = `the first run is due ${formatMinute(schedule.next_update_at)}`;
    sentences.push(`It ${hasStarted(schedule, now) ? 'has never run' : 'has not started'}; ${first}.`);
  }
  return sentences.join(' ') || `No run since ${formatMinute(since)}.`;
}

/**
 * The outcome and the findings of a site whose core has a problem. It does not fail before the problem has lasted
 * as long as the site's threshold allows; both times are ours.
 */
export function siteEnd(
  { site, vulnerable, uncovered, notShown, covering, others }: FoundSite,
  given: CheckOptions,
  { since, now }: { since: number; now: number },
): End {
  const { maxAge } = site;
  const isYoung = maxAge !== undefined && now < since + maxAge;
  const options = isYoung ? { ...given, fail_on: [] } : given;
  const missing = notShown === undefined ? '' : `The service does not show ${notShown}.`;
  if (!vulnerable && !uncovered) return { is: 'skipped', reason: 'not-eligible', detail: missing };
  const met = new Set<Condition>([
    ...(vulnerable ? (['vulnerable'] as const) : []),
    ...(uncovered ? (['uncovered'] as const) : []),
  ]);
  const [first] = covering;
  const coverage = first
    ? `"${first.name ?? first.id}" updates it, next on ${formatMinute(first.next_update_at)}`
    : site.locked
      ? 'its version is locked on the site'
      : `no active schedule updates it${others.length > 0 ? ` (${others.slice(0, 3).join(', ')})` : ''}`;
  const offline = site.connected ? '' : ' The site is disconnected.';
  const core = `The core ${site.current} is ${vulnerable ? 'vulnerable' : 'outdated'} (latest version: ${site.latest})`;
  const age =
    maxAge === undefined ? '' : `Known since ${formatMinute(since)}; it may last ${formatDuration(maxAge)}.`;
  const message = [`${core}; ${coverage}.${offline}`, missing, age].filter((text) => text !== '').join(' ');
  const findings = [...met].map((condition) => ({
    severity: severityOf(condition, options),
    about: condition,
    message,
    since,
  }));
  return { ...endOf(met, options), detail: message, findings };
}
