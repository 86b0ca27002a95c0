/**
 * The deadline of a run (`deadline` of its policy): when it is, whether the run is predicted to miss it, and the
 * one alert about that.
 */
import { DAY_MS, firstAt, offsetAt } from '../dates.ts';
import type { Deadline, Policy } from '../policy/policy.ts';
import { jobOf } from '../policy/policy-job.ts';
import type { Late, Run, Trigger } from '../run/run.ts';
import { endAtPace, workOf } from '../run/run-end.ts';
import { type EngineDeps, noticeFor, policyOf } from './deps.ts';
import { costOf, durationOf, pastCost, requestsPerMinuteFor } from './plan/cost.ts';

/** Runs that the schedule starts have a deadline and a window. A person who starts a run watches it. */
const withDeadline: readonly Trigger[] = ['schedule', 'catch-up', 'after'];

/** When a run has to be done, and when its window ends, as fields of the run; without those that it does not have. */
export function timesOf(
  { deadline, window, schedule }: Policy,
  { trigger, scheduledFor }: Pick<Run, 'trigger' | 'scheduledFor'>,
): Pick<Run, 'dueBy' | 'windowEndsAt'> {
  if (!withDeadline.includes(trigger)) return {};
  const at = (one: Deadline) => deadlineAt(one, schedule?.timezone ?? 'UTC', scheduledFor);
  return {
    ...(deadline && { dueBy: at(deadline) }),
    ...(window && { windowEndsAt: at(window.until) }),
  };
}

/** Whether the time is over in which something new of a run may begin. */
export const isWindowOver = ({ windowEndsAt }: Pick<Run, 'windowEndsAt'>, now: number): boolean =>
  windowEndsAt !== undefined && now >= windowEndsAt;

/** So long after the scheduled time; or the first time after it at which clocks in the zone show the time of day. */
export function deadlineAt(deadline: Deadline, zone: string, scheduledFor: number): number {
  if ('afterMs' in deadline) return scheduledFor + deadline.afterMs;
  const today = Math.floor((scheduledFor + offsetAt(zone, scheduledFor)) / DAY_MS);
  const days = [today, today + 1].map((day) => firstAt(zone, day * DAY_MS + deadline.minute * 60_000));
  return days.find((at) => at > scheduledFor) ?? scheduledFor + DAY_MS;
}

/** How often the end of a run is predicted again. */
const PREDICTION_INTERVAL_MS = 10_000;
/** A prediction this close to the deadline is not yet a reason for an alert. */
const MARGIN_MS = 60_000;

/**
 * Records once for a run that it is predicted to miss its deadline, or has missed it, and has it told. Called
 * once a second for every run that has not ended. `checked`: when the end of each run was predicted last.
 */
export async function checkDeadline(
  deps: EngineDeps,
  run: Run,
  active: readonly Run[],
  checked: Map<string, number>,
): Promise<void> {
  const { clock, records, log } = deps;
  if (run.dueBy === undefined || run.late) return;
  const now = clock.now();
  const late =
    now >= run.dueBy ? { at: now, is: 'missed' as const } : await predicted(deps, run, active, checked);
  if (!late) return;
  const notice = noticeFor(policyOf(run), { type: 'deadline', run: run.id, at: now });
  if (!(await records.late.note(run.id, late, notice))) return;
  log.warn({ run: run.id, dueBy: run.dueBy, ...late }, 'a run misses its deadline');
}

async function predicted(
  deps: EngineDeps,
  run: Run,
  active: readonly Run[],
  checked: Map<string, number>,
): Promise<Late | undefined> {
  const now = deps.clock.now();
  if (run.status !== 'running' || !run.planComplete || run.ending) return undefined;
  if (now - (checked.get(run.id) ?? Number.NEGATIVE_INFINITY) < PREDICTION_INTERVAL_MS) return undefined;
  checked.set(run.id, now);
  const expected = expectedEnd(run, now) ?? (await estimatedEnd(deps, run, active, now));
  if (expected === undefined || expected <= (run.dueBy ?? 0) + MARGIN_MS) return undefined;
  return { at: now, is: 'predicted', expected: Math.round(expected) };
}

/** How many of its targets have to have ended before a run's own pace predicts its end: at least, and as a part. */
const ENOUGH = { targets: 5, part: 0.1 };

/** When the run ends if it goes on as until now; undefined while too few of its targets have ended. */
export function expectedEnd(run: Run, now: number): number | undefined {
  const { targets, left } = workOf(run);
  return targets - left < Math.max(ENOUGH.targets, targets * ENOUGH.part) ? undefined : endAtPace(run, now);
}

/** The same from past runs of the policy, or else from the requests that it needs. */
async function estimatedEnd(
  deps: EngineDeps,
  run: Run,
  active: readonly Run[],
  now: number,
): Promise<number | undefined> {
  const policy = policyOf(run);
  const job = jobOf(deps.registry, policy);
  if (!job) return undefined;
  const { left } = workOf(run);
  const past = await pastCost(deps, policy);
  const { acting, following } = costOf(job, policy, left, past);
  const usage = await deps.link(run.account).budget.usage();
  const byBudget = durationOf(acting + following, requestsPerMinuteFor(policy, usage, active));
  const byPast = left * (past?.perTarget?.ms ?? 0);
  const spreadEnd = run.spread && left > 0 ? run.spread.from + run.spread.ms : 0;
  return Math.max(now + Math.max(byBudget, byPast), spreadEnd);
}
