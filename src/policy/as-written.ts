/** A policy in the keys of its file, every default filled in: the inverse of `to-policy.ts`. */

import { z } from 'zod';
import { defined } from '../defined.ts';
import type { Registry } from '../job/registry.ts';
import { formatDuration } from '../yaml/duration.ts';
import { escapePlaceholders } from './placeholders.ts';
import type {
  After,
  ApprovalRule,
  Blackout,
  Deadline,
  GroupLimits,
  Policy,
  RolloutRule,
  Schedule,
  Select,
  Threshold,
} from './policy.ts';
import { RECHECK_MAX_AGE_MS } from './to-policy.ts';

// A job's options in the words of a policy's file: what the job's schema read them into, back again.

/** What `schema` would read as this very value: durations (`14d`) and shares (`20%`) as people write them. */
export function optionsAsWritten(schema: z.core.$ZodType, value: unknown): unknown {
  if (typeof value === 'number') {
    const { title } = z.globalRegistry.get(schema) ?? {};
    if (title === 'duration') return value === 0 ? 0 : formatDuration(value);
    if (title === 'percentage') return `${value}%`;
  }
  if (schema instanceof z.ZodObject && typeof value === 'object' && value !== null) {
    const shape = schema.shape as Record<string, z.core.$ZodType>;
    return Object.fromEntries(
      Object.entries(value).map(([name, one]) => [
        name,
        Object.hasOwn(shape, name) && shape[name] ? optionsAsWritten(shape[name], one) : one,
      ]),
    );
  }
  const isWrapped =
    schema instanceof z.ZodOptional || schema instanceof z.ZodDefault || schema instanceof z.ZodPrefault;
  return isWrapped ? optionsAsWritten(schema.def.innerType, value) : value;
}

/**
 * One entry of `policies:` that would be read as this very policy, without `defaults`, `vars` or `matrix`.
 * Durations are exact to the second.
 */
export const asWritten = (policy: Policy, registry: Registry): Record<string, unknown> =>
  escaped(entryOf(policy, registry)) as Record<string, unknown>;

/** A value whose texts hold no placeholder. */
function escaped(value: unknown): unknown {
  if (typeof value === 'string') return escapePlaceholders(value);
  if (Array.isArray(value)) return value.map(escaped);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, escaped(inner)]));
}

function entryOf(policy: Policy, registry: Registry): Record<string, unknown> {
  const { schedule, select, limits, retry, timeout } = policy;
  return {
    name: policy.name,
    ...defined({ description: policy.description, owner: policy.owner, labels: policy.labels }),
    account: policy.account,
    ...(policy.steps ? { steps: stepsAsWritten(policy, policy.steps, registry) } : { job: policy.job }),
    priority: policy.priority,
    ...(schedule && { schedule: scheduleAsWritten(schedule) }),
    select: selectAsWritten(select),
    ...(policy.steps ? {} : withAsWritten(policy, registry)),
    limits: {
      concurrency: limits.concurrency,
      max_targets: limits.maxTargets,
      max_percent: `${limits.maxPercent}%`,
      ...(limits.perClient && { per_client: groupLimitsAsWritten(limits.perClient) }),
      ...(limits.perTag && { per_tag: groupLimitsAsWritten(limits.perTag) }),
      ...(limits.maxChange && {
        max_change: limits.maxChange === 'none' ? 'none' : thresholdAsWritten(limits.maxChange),
      }),
      ...(limits.stopAfterFailures && { stop_after_failures: thresholdAsWritten(limits.stopAfterFailures) }),
    },
    retry: {
      attempts: retry.attempts,
      backoff: retry.backoff,
      delay: formatDuration(retry.delayMs),
      max_delay: formatDuration(retry.maxDelayMs),
    },
    ...(policy.acceptRejections && { accept_rejections: [...policy.acceptRejections] }),
    ...(policy.deadline && { deadline: deadlineAsWritten(policy.deadline) }),
    ...(policy.window && { window: { until: deadlineAsWritten(policy.window.until) } }),
    recheck: { max_age: formatDuration(policy.recheck?.maxAgeMs ?? RECHECK_MAX_AGE_MS) },
    timeout: { target: formatDuration(timeout.targetMs), run: formatDuration(timeout.runMs) },
    notify: policy.notify.map(({ on, route, ...rest }) => ({
      on: [...on],
      ...rest,
      ...(route && { route: route.map((rule) => ({ ...rule })) }),
    })),
    ...(policy.record && { record: recordAsWritten(policy.record) }),
    ...(policy.approval && { approval: approvalAsWritten(policy.approval) }),
    ...(policy.rollout && { rollout: rolloutAsWritten(policy.rollout) }),
  };
}

function selectAsWritten({ from, forEach, singleViews, ...rest }: Select) {
  return {
    ...defined({ from }),
    ...(forEach ? { for_each: { ...forEach } } : {}),
    ...rest,
    ...defined({ single_views: singleViews }),
  };
}

const recordAsWritten = ({ customWork, note }: NonNullable<Policy['record']>) => ({
  ...(customWork && { custom_work: { ...customWork } }),
  ...(note && { note }),
});

const approvalAsWritten = ({ when, by, expiresMs, separate, eachBatch }: ApprovalRule) => ({
  when: typeof when === 'string' ? when : { over: { targets: when.overTargets } },
  ...(by === undefined ? {} : { by: [...by] }),
  expires: formatDuration(expiresMs),
  separate: separate ?? false,
  each_batch: eachBatch ?? false,
});

const rolloutAsWritten = ({ batches, pauseMs, maxFailed, healthy, waitWhenClosedMs }: RolloutRule) => ({
  batches: batches.map((batch) => ('where' in batch ? { where: batch.where } : thresholdAsWritten(batch))),
  pause: lengthAsWritten(pauseMs),
  max_failed: thresholdAsWritten(maxFailed),
  ...defined({ healthy }),
  wait_when_closed: lengthAsWritten(waitWhenClosedMs),
});

const stepsAsWritten = (
  { options }: Policy,
  steps: NonNullable<Policy['steps']>,
  registry: Registry,
): object[] =>
  steps.map(({ name, job }, i) => ({
    ...(name === job ? {} : { name }),
    job,
    ...withAsWritten({ job, options: (options as readonly unknown[])[i] }, registry),
  }));

function withAsWritten({ job: name, options }: Pick<Policy, 'job' | 'options'>, registry: Registry) {
  const job = registry.get(name);
  return isEmpty(options) ? {} : { with: job ? optionsAsWritten(job.options, options) : options };
}

const scheduleAsWritten = (schedule: Schedule) => ({
  ...(schedule.after
    ? { after: afterAsWritten(schedule.after) }
    : { cron: schedule.cron.length === 1 ? schedule.cron[0] : [...schedule.cron] }),
  timezone: schedule.timezone,
  ...(schedule.after ? {} : { dst: { gap: 'shift', overlap: 'first', ...schedule.dst } }),
  jitter: lengthAsWritten(schedule.jitterMs),
  ...(schedule.spreadMs === undefined ? {} : { spread: formatDuration(schedule.spreadMs) }),
  overlap: schedule.overlap,
  ...(schedule.after ? {} : { catchup: catchupAsWritten(schedule) }),
  ...(schedule.disabled ? { enabled: false } : {}),
  blackout: blackoutAsWritten(schedule.blackout),
  ...(schedule.after ? {} : { on_blackout: schedule.onBlackout ?? 'skip' }),
  ...defined({ pause_after_failures: schedule.pauseAfterFailures }),
});

const catchupAsWritten = ({ catchesAll, catchupMs }: Schedule) =>
  catchesAll ? { window: formatDuration(catchupMs), mode: 'all' } : lengthAsWritten(catchupMs);

/** `schedule.after` in the words of the file. */
export const afterAsWritten = ({ policy, status, withinMs }: After) => ({
  policy,
  status: [...status],
  within: formatDuration(withinMs),
});

/** Each calendar by its name, once. */
const blackoutAsWritten = (blackout: readonly Blackout[]) => [
  ...new Set(
    blackout.map(
      (days) => days.calendar ?? ('weekday' in days ? days.weekday : { from: days.from, to: days.to }),
    ),
  ),
];

const lengthAsWritten = (ms: number) => (ms === 0 ? 0 : formatDuration(ms));

const thresholdAsWritten = (threshold: Threshold) =>
  'percent' in threshold ? `${threshold.percent}%` : threshold.count;

const groupLimitsAsWritten = ({ concurrency, maxTargets }: GroupLimits) =>
  defined({ concurrency, max_targets: maxTargets });

const twoDigits = (count: number) => String(count).padStart(2, '0');
const deadlineAsWritten = (deadline: Deadline): string =>
  'afterMs' in deadline
    ? formatDuration(deadline.afterMs)
    : `${twoDigits(Math.floor(deadline.minute / 60))}:${twoDigits(deadline.minute % 60)}`;

const isEmpty = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && Object.keys(value).length === 0;
