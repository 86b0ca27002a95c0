/**
 * Translates a policy from the keys of its file into `Policy`, which the other rooms use.
 */
import { createHash } from 'node:crypto';
import { defined } from '../defined.ts';
import { jobNames } from '../job/steps.ts';
import { deepFreeze } from '../settings/settings.ts';
import { type Days, daysOf, isDay, isWeekday } from '../yaml/days.ts';
import { hasLabels, type Labels } from './labels.ts';
import type {
  ApprovalRule,
  Blackout,
  ForEach,
  GroupLimits,
  Policy,
  RolloutRule,
  Schedule,
  Select,
} from './policy.ts';
import type { PolicyEntry } from './policy-file.ts';

/** How old what a change rests on may be, unless the policy says otherwise (`recheck.max_age`). */
export const RECHECK_MAX_AGE_MS = 15_000;
const defaultTargetMs = 2 * 3_600_000;

/** How long one target may take. */
export const targetMsOf = ({ target, run }: PolicyEntry['timeout']): number =>
  target ?? Math.min(defaultTargetMs, run);

/** What the jobs of a policy read of their options: those of its job, or of each of its steps. */
export type JobOptions = { options: unknown } | { steps: readonly { options: unknown }[] };

/** Calendars by their names. */
export type Calendars = Readonly<Record<string, readonly Days[]>>;

/**
 * The policy, frozen, with its place. `work` is `with` as the schemas of its jobs read it. The days of calendars are
 * copied into the policy.
 */
export function toPolicy(
  entry: PolicyEntry,
  { work, calendars }: { work: JobOptions; calendars: Calendars },
  { file, line }: { file: string; line?: number | undefined },
): Policy {
  const { limits, retry, timeout } = entry;
  const deciding = {
    name: entry.name,
    account: entry.account,
    ...toWork(entry, work),
    priority: entry.priority,
    ...(entry.schedule && { schedule: toSchedule(entry.schedule, calendars) }),
    select: toSelect(entry.select),
    limits: {
      concurrency: limits.concurrency,
      maxTargets: limits.max_targets,
      maxPercent: limits.max_percent,
      ...(limits.per_client && { perClient: toGroupLimits(limits.per_client) }),
      ...(limits.per_tag && { perTag: toGroupLimits(limits.per_tag) }),
      ...(limits.max_change && { maxChange: limits.max_change }),
      ...(limits.stop_after_failures && { stopAfterFailures: limits.stop_after_failures }),
    },
    retry: {
      attempts: retry.attempts,
      backoff: retry.backoff,
      delayMs: retry.delay,
      maxDelayMs: retry.max_delay,
    },
    ...(entry.accept_rejections && { acceptRejections: entry.accept_rejections }),
    timeout: { targetMs: targetMsOf(timeout), runMs: timeout.run },
    ...(entry.recheck.max_age === RECHECK_MAX_AGE_MS ? {} : { recheck: { maxAgeMs: entry.recheck.max_age } }),
    ...(entry.deadline && { deadline: entry.deadline }),
    ...(entry.window && { window: entry.window }),
    notify: entry.notify.map((one) => toNotify(one, entry.labels)),
    ...(entry.record && { record: toRecord(entry.record) }),
    ...(entry.approval && { approval: toApproval(entry.approval) }),
    ...(entry.rollout && { rollout: toRollout(entry.rollout) }),
  };
  const { description, owner, labels } = entry;
  const forPeople = defined({ description, owner, labels });
  const place = { file, ...defined({ line }) };
  return deepFreeze({ ...deciding, ...forPeople, ...place, hash: hashOf(deciding) });
}

/** Rules of other labels are left out; one that needs no more than the labels is the default. */
function toNotify({ on, to, streak, route }: PolicyEntry['notify'][number], labels?: Labels) {
  const rules = (route ?? [])
    .filter(({ label }) => label === undefined || hasLabels(labels, [label]))
    .map(({ client, tag, to }) => ({ ...defined({ client, tag }), to }));
  const end = rules.findIndex(({ client, tag }) => client === undefined && tag === undefined);
  const own = end === -1 ? rules : rules.slice(0, end);
  return {
    ...{ on: [...on], to: rules[end]?.to ?? to },
    ...defined({ streak }),
    ...(own.length > 0 ? { route: own } : {}),
  };
}

const toRecord = ({
  custom_work: work,
  note,
}: NonNullable<PolicyEntry['record']>): NonNullable<Policy['record']> => ({
  ...(work && {
    customWork: {
      title: work.title,
      ...defined({ description: work.description }),
    },
  }),
  ...(note && { note }),
});

const toApproval = ({
  when,
  by,
  expires,
  separate,
  each_batch: eachBatch,
}: NonNullable<PolicyEntry['approval']>): ApprovalRule => ({
  when: typeof when === 'string' ? when : { overTargets: when.over.targets },
  ...(by === undefined ? {} : { by: [...by] }),
  expiresMs: expires,
  ...(separate && { separate: true as const }),
  ...(eachBatch && { eachBatch: true as const }),
});

const toRollout = ({
  batches,
  pause,
  max_failed: maxFailed,
  healthy,
  wait_when_closed: waitWhenClosedMs,
}: NonNullable<PolicyEntry['rollout']>): RolloutRule => ({
  batches: [...batches],
  pauseMs: pause,
  maxFailed,
  ...defined({ healthy }),
  waitWhenClosedMs,
});

/** The job with its options, or the steps. A single step is the same as its job. */
function toWork(
  { job, steps = [] }: PolicyEntry,
  work: JobOptions,
): Pick<Policy, 'job' | 'steps' | 'options'> {
  if ('options' in work) return { job: job ?? '', options: work.options };
  const options = work.steps.map((step) => step.options);
  const [only, ...more] = steps;
  if (only && more.length === 0) return { job: only.job, options: options[0] };
  const named = steps.map((step) => ({ name: step.name ?? step.job, job: step.job }));
  return { job: jobNames(steps), options, steps: named };
}

function toSchedule(schedule: NonNullable<PolicyEntry['schedule']>, calendars: Calendars): Schedule {
  const {
    cron = [],
    after,
    timezone,
    dst,
    jitter,
    spread,
    overlap,
    catchup,
    enabled,
    blackout,
    on_blackout: onBlackout,
    pause_after_failures: pause,
  } = schedule;
  const usual = dst.gap === 'shift' && dst.overlap === 'first';
  return {
    cron: [cron].flat(),
    ...(after && { after: { policy: after.policy, status: [...after.status], withinMs: after.within } }),
    timezone,
    ...(usual ? {} : { dst }),
    jitterMs: jitter,
    ...defined({ spreadMs: spread }),
    overlap,
    catchupMs: catchup.mode === 'none' ? 0 : catchup.window,
    ...(catchup.mode === 'all' && catchup.window > 0 && { catchesAll: true as const }),
    ...(!enabled && { disabled: true as const }),
    blackout: blackout.flatMap((one) => toBlackout(one, calendars)),
    ...(onBlackout === 'skip' ? {} : { onBlackout }),
    ...(pause !== undefined && { pauseAfterFailures: pause }),
  };
}

const toGroupLimits = ({
  concurrency,
  max_targets: maxTargets,
}: NonNullable<PolicyEntry['limits']['per_client']>): GroupLimits => defined({ concurrency, maxTargets });

type BlackoutEntry = NonNullable<PolicyEntry['schedule']>['blackout'][number];

/** Whether an entry of `schedule.blackout` is the name of a calendar. */
export const namesCalendar = (entry: BlackoutEntry): entry is string =>
  typeof entry === 'string' && !isDay(entry) && !isWeekday(entry);

/** The days of one entry of `schedule.blackout`; none for an unknown calendar. */
export const toBlackout = (entry: BlackoutEntry, calendars: Calendars): Blackout[] =>
  namesCalendar(entry)
    ? (calendars[entry] ?? []).map((days) => ({ ...days, calendar: entry }))
    : [daysOf(entry)];

/** `for_each` as a policy has it. */
export const toForEach = ({
  list,
  filters,
  where,
}: NonNullable<PolicyEntry['select']['for_each']>): ForEach => ({
  list,
  filters,
  ...(where !== undefined && { where }),
});

function toSelect(select: PolicyEntry['select']): Select {
  const {
    from,
    for_each: forEach,
    join,
    filters,
    where,
    sort,
    timezone,
    limit,
    single_views: singleViews,
  } = select;
  return {
    ...(from !== undefined && { from }),
    ...(forEach && { forEach: toForEach(forEach) }),
    ...(join && { join }),
    filters,
    ...(where !== undefined && { where }),
    ...(sort !== undefined && { sort }),
    ...(timezone !== undefined && { timezone }),
    ...(limit !== undefined && { limit }),
    ...(singleViews !== undefined && { singleViews }),
  };
}

/** The same hash for the same meaning: the order of keys in the file makes no difference. */
function hashOf(value: unknown): string {
  return createHash('sha256').update(canonical(value)).digest('hex').slice(0, 16);
}

function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join()}]`;
  if (value === null || typeof value !== 'object') return JSON.stringify(value) ?? 'null';
  const entries = Object.entries(value)
    .filter(([, inner]) => inner !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${entries.map(([key, inner]) => `${JSON.stringify(key)}:${canonical(inner)}`).join()}}`;
}
