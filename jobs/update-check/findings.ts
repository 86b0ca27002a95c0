/**
 * What an update check has to say of a schedule and of a site, how they end by it, and what is to be changed
 * about a schedule. Pure: what was read comes in, findings and outcomes go out.
 */

import type { End } from '../../src/job/answer.ts';
import type { Finding } from '../../src/job/job.ts';
import { countOf } from '../../src/text.ts';
import type { FoundSite } from './core-coverage.ts';
import type { ScheduleHistory, UpdateSchedule } from './history.ts';
import {
  failedShare,
  formatUpdate,
  gravity,
  inMinutes,
  isGoing,
  isUnclear,
  runFindings,
  type UpdateRun,
  wentBadly,
} from './runs.ts';

/** What can be amiss, the gravest first, and the reason that says so. */
export const conditions = {
  failed: 'update-failed',
  vulnerable: 'vulnerable',
  overdue: 'overdue',
  uncovered: 'uncovered',
  paused: 'schedule-paused',
  'no-history': 'no-history',
} as const;
export type Condition = keyof typeof conditions;
/** All of them, the gravest first. */
export const allConditions = Object.keys(conditions) as Condition[];

/** What a policy says about it. */
export interface CheckOptions {
  fail_on: readonly Condition[];
  overdue_after: number;
  enable_paused: boolean;
  pause_on_failed_rate?: number | undefined;
}

/** What may be changed about a schedule, and its status afterwards. */
export const effects = { enableAutoUpdateSchedule: 'active', disableAutoUpdateSchedule: 'paused' } as const;
export type Effect = keyof typeof effects;

/** One schedule and what there is to tell of it. */
export interface ExaminedSchedule extends Pick<ScheduleHistory, 'schedule' | 'since' | 'untold'> {
  /** The runs to tell of, newest first. */
  runs: UpdateRun[];
  /** The last run there ever was. */
  latest?: UpdateRun;
  /** What this check did about the schedule, or what the service said instead. */
  did?: Effect | undefined;
  refused?: string | undefined;
}

/** A schedule that somebody changed so long after a bad run was given another chance. */
const CHANGED_AFTER_MS = 600_000;
/** So many lines of one target are kept. */
const MAX_LINES = 100;

/** What is to be changed about a schedule, if anything. In doubt nothing is. */
export function effectOn(
  { schedule, runs, latest }: ExaminedSchedule,
  options: CheckOptions,
): Effect | undefined {
  const { enable_paused: enables, pause_on_failed_rate: rate } = options;
  if (schedule.status === 'paused' && enables && !staysPaused(latest, rate))
    return 'enableAutoUpdateSchedule';
  if (schedule.status !== 'active' || rate === undefined || !latest || !runs.includes(latest))
    return undefined;
  // A schedule that does not show when it was changed may have been given another chance.
  const isAsItWas = Date.parse(schedule.updated_at ?? '') <= (latest.changedAt ?? 0) + CHANGED_AFTER_MS;
  return isOver(latest, rate) && isAsItWas ? 'disableAutoUpdateSchedule' : undefined;
}

/** Whether a paused schedule would be paused again for its last run, or nobody can tell. */
const staysPaused = (latest: UpdateRun | undefined, rate: number | undefined): boolean =>
  rate !== undefined && latest !== undefined && (failedShare(latest) ?? 100) > rate;

const isOver = (run: UpdateRun, rate: number): boolean => !isGoing(run) && (failedShare(run) ?? 0) > rate;

const severityOf = (condition: Condition, { fail_on }: CheckOptions): Finding['severity'] =>
  fail_on.includes(condition) ? 'error' : 'warning';

/**
 * How a target ends of which these conditions hold: failed for one that the policy names, else skipped and
 * told.
 */
function endOf(held: ReadonlySet<Condition>, { fail_on }: CheckOptions): Pick<End, 'is' | 'reason'> {
  const amiss = allConditions.filter((condition) => held.has(condition));
  const failing = amiss.find((condition) => fail_on.includes(condition));
  const first = failing ?? amiss[0];
  if (!first) return { is: 'done', reason: 'done' };
  return { is: failing ? 'failed' : 'skipped', reason: conditions[first] };
}

type Label = (siteId: string) => string;

/** What there is to say of a schedule, from what was read. */
export function scheduleEnd(looked: ExaminedSchedule, options: CheckOptions, now: number, label: Label): End {
  const { schedule, runs, refused } = looked;
  const held = new Set<Condition>();
  if (runs.some(wentBadly)) held.add('failed');
  if (isOverdue(looked, options, now)) held.add('overdue');
  if (schedule.status === 'paused') held.add('paused');
  if (!looked.latest && hasBegun(schedule, now)) held.add('no-history');
  const findings = linesOf(looked, held, options, now, label);
  const detail = detailOf(looked, held, now);
  if (refused !== undefined) return { is: 'failed', reason: 'rejected', detail: refused, findings };
  const end = endOf(held, options);
  if (end.is !== 'done') return { ...end, detail, findings };
  if (runs.some(isGoing)) return { is: 'skipped', reason: 'timeout', detail, findings };
  // Nothing is known to have failed, and not all is known to have gone well.
  if (runs.some(isUnclear)) return { is: 'skipped', reason: 'not-eligible', detail, findings };
  if (!looked.latest) return { is: 'skipped', reason: 'no-history', detail, findings };
  return { ...end, detail, findings };
}

const hasBegun = ({ started_at }: UpdateSchedule, now: number): boolean =>
  !(Date.parse(started_at ?? '') > now);

/** Whether an active schedule should have run long ago. A run since then, going or not, shows that it did. */
function isOverdue(
  { schedule, latest }: ExaminedSchedule,
  { overdue_after }: CheckOptions,
  now: number,
): boolean {
  const due = Date.parse(schedule.next_update_at ?? '');
  return schedule.status === 'active' && due + overdue_after < now && !(latest && latest.at >= due);
}

function linesOf(
  looked: ExaminedSchedule,
  held: ReadonlySet<Condition>,
  options: CheckOptions,
  now: number,
  label: Label,
): Finding[] {
  const { runs, untold, since, refused, did } = looked;
  const lines: Finding[] = [standing(looked, held, options, now)];
  if (refused !== undefined && did) {
    const what = effects[did] === 'active' ? 'enabled' : 'paused';
    lines.push({ severity: 'error', about: 'schedule', message: `It could not be ${what}: ${refused}` });
  }
  const told = runs.map((run) => runFindings(run, severityOf('failed', options), label));
  const older: Finding[] =
    untold === 0
      ? []
      : [
          {
            severity: 'warning',
            about: 'more runs',
            message: `${untold} older runs since ${inMinutes(since)} are not reported.`,
          },
        ];
  const all = [...lines, ...told.flat(), ...older];
  if (all.length <= MAX_LINES) return all;
  // Of what does not fit, the runs and the worst are kept: by its run's line the next check knows what was
  // told.
  const sites = told.flatMap(([, ...rest]) => rest).sort((a, b) => gravity[a.severity] - gravity[b.severity]);
  return [...lines, ...told.flatMap(([whole]) => whole ?? []), ...older, ...sites];
}

/**
 * The line about the schedule itself; there always is one, so that the next check knows that it was told of.
 */
function standing(
  { schedule, latest, did }: ExaminedSchedule,
  held: ReadonlySet<Condition>,
  options: CheckOptions,
  now: number,
): Finding {
  // Whatever of it fails the schedule makes the line an error: a failed target has one.
  const fails = (['overdue', 'paused', 'no-history'] as const).some(
    (condition) => held.has(condition) && options.fail_on.includes(condition),
  );
  const line = (amiss: Condition | boolean, message: string): Finding => {
    const isAmiss = typeof amiss === 'string' ? held.has(amiss) : amiss;
    return { severity: fails ? 'error' : isAmiss ? 'warning' : 'info', about: 'schedule', message };
  };
  const rate = options.pause_on_failed_rate;
  const next = inMinutes(schedule.next_update_at);
  if (schedule.status === 'paused') {
    const share =
      latest && rate !== undefined && staysPaused(latest, rate) ? formatPercentage(latest, rate) : '';
    if (did === 'disableAutoUpdateSchedule') {
      return line('paused', `Paused by this check${share}. Enable it when that is fixed.`);
    }
    const stays = options.enable_paused && share ? ` It is not enabled${share}.` : '';
    return line('paused', `Paused: it updates nothing until it is enabled.${stays}`);
  }
  const how = `${schedule.schedule ?? 'on its own terms'}, for ${sitesOf(schedule)}`;
  if (schedule.status !== 'active') return line(false, `Its status is "${schedule.status}" (${how}).`);
  if (did === 'enableAutoUpdateSchedule')
    return line(
      true,
      `Was paused; enabled by this check.${latest ? '' : ' It has never run.'} The next run is due ${next}.`,
    );
  if (held.has('overdue')) return line('overdue', `Active (${how}), but due since ${next} and has not run.`);
  if (!latest) {
    const begins = hasBegun(schedule, now) ? 'it has never run' : 'it has not started';
    return line('no-history', `Active (${how}); ${begins}. The first run is due ${next}.`);
  }
  return line(false, `Active (${how}). The next run is due ${next}.`);
}

function formatPercentage(latest: UpdateRun, rate: number): string {
  const share = failedShare(latest);
  return share === undefined
    ? ', because it is unknown on how many sites its last run failed'
    : `, since its last run failed on ${Math.round(share)}% of its sites, more than ${rate}%`;
}

function sitesOf({ scope }: UpdateSchedule): string {
  const { selection, ids } = scope?.sites ?? {};
  if (selection === 'all') return 'all sites';
  return ids ? countOf(ids.length, 'site') : 'sites that the service does not show';
}

/** One sentence, or a few short ones, that sum it up. */
function detailOf(
  { schedule, runs, since, latest }: ExaminedSchedule,
  held: ReadonlySet<Condition>,
  now: number,
): string {
  const says: string[] = [];
  const ended = runs.filter((run) => !isGoing(run));
  const [bad, ...more] = ended.filter(wentBadly);
  const count = countOf(ended.length, 'run');
  if (bad && more.length === 0) says.push(`In the run of ${inMinutes(bad.at)}: ${formatUpdate(bad)}.`);
  else if (bad) {
    says.push(
      `${more.length + 1} of ${count} since ${inMinutes(since)} went wrong; in the last of them ${formatUpdate(bad)}.`,
    );
  } else if (ended.length > 0) {
    const updated = ended.flatMap(({ sites }) => sites).filter(({ came }) => came === 'updated').length;
    const unclear = ended.filter(isUnclear).length;
    const rest = unclear === 0 ? 'none failed' : `and of ${countOf(unclear, 'run')} not all sites are shown`;
    says.push(`${countOf(updated, 'site update')} in ${count} since ${inMinutes(since)}, ${rest}.`);
  }
  if (runs.some(isGoing)) says.push('A run is still going.');
  if (held.has('overdue')) says.push(`It was due ${inMinutes(schedule.next_update_at)} and has not run.`);
  if (schedule.status === 'paused') says.push('It is paused.');
  else if (!latest) {
    const first = `the first run is due ${inMinutes(schedule.next_update_at)}`;
    says.push(`It ${hasBegun(schedule, now) ? 'has never run' : 'has not started'}; ${first}.`);
  }
  return says.join(' ') || `No run since ${inMinutes(since)}.`;
}

export function siteEnd(
  { site, vulnerable, uncovered, notShown, covering, others }: FoundSite,
  options: CheckOptions,
): End {
  const lacking = notShown === undefined ? '' : `The service does not show ${notShown}.`;
  if (!vulnerable && !uncovered) return { is: 'skipped', reason: 'not-eligible', detail: lacking };
  const held = new Set<Condition>([
    ...(vulnerable ? (['vulnerable'] as const) : []),
    ...(uncovered ? (['uncovered'] as const) : []),
  ]);
  const [first] = covering;
  const who = first
    ? `"${first.name ?? first.id}" updates it, next on ${inMinutes(first.next_update_at)}`
    : site.locked
      ? 'its version is locked on the site'
      : `no active schedule updates it${others.length > 0 ? ` (${others.slice(0, 3).join(', ')})` : ''}`;
  const offline = site.connected ? '' : ' The site is disconnected.';
  const what = `The core ${site.current} ${vulnerable ? 'is vulnerable' : 'is behind'}, ${site.latest} is available`;
  const message = [`${what}; ${who}.${offline}`, lacking].filter((text) => text !== '').join(' ');
  const findings = [...held].map((condition) => ({
    severity: severityOf(condition, options),
    about: condition,
    message,
  }));
  return { ...endOf(held, options), detail: message, findings };
}
