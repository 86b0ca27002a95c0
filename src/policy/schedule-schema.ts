/** `schedule` of a policy file. */
import { z } from 'zod';
import { cron, timezone } from '../yaml/cron.ts';
import { DayRange, dayOrNameJsonSchema } from '../yaml/days.ts';
import { duration } from '../yaml/duration.ts';
import { name, whole } from './file-sections.ts';
import { blackoutMoves, chainStatuses, foldings, gaps, overlaps } from './policy.ts';

const Blackout = z.union([DayRange, z.string().meta(dayOrNameJsonSchema)], {
  error:
    'must be the name of a calendar, a day such as 2026-12-25, a weekday such as sunday, or { from, to }',
});

const catchupModes = ['none', 'last', 'all'] as const;

/** A duration, or a duration with a mode; read as the latter. */
const Catchup = z.union(
  [
    duration().transform((window) => ({ window, mode: 'last' as (typeof catchupModes)[number] })),
    z.strictObject({
      window: duration().describe('How late a missed scheduled run may be and still start.'),
      mode: z
        .enum(catchupModes)
        .default('last')
        .describe('Which of several missed scheduled runs start: none, last or all. Default last.'),
    }),
  ],
  { error: 'must be a duration such as 2h, or { window: 2h, mode: all } with mode none, last or all' },
);

const After = z.strictObject(
  {
    policy: name.describe('The policy whose runs it follows; of any file and account.'),
    status: z
      .array(z.enum(chainStatuses))
      .min(1)
      .default(['succeeded'])
      .describe('The ends of those runs that start it. Default [succeeded].'),
    within: duration(60_000)
      .prefault('24h')
      .describe(
        'An end that is noticed later than this, because no daemon was running, is recorded as missed. Default 24h.',
      ),
  },
  {
    error: ({ code }) =>
      code === 'invalid_type' ? 'must be a map, such as { policy: nightly-sync }' : undefined,
  },
);

const ScheduleKeys = z.strictObject({
  cron: z
    .optional(z.union([cron, z.array(cron).min(1)], { error: 'must be a cron expression or a list of them' }))
    .describe(
      'When it fires: minute, hour, day of month, month, day of week. One expression or a list. Either this or "after" is required.',
    ),
  after: z
    .optional(After)
    .describe('Fires when a run of another policy has ended, instead of at the times of "cron".'),
  timezone: timezone
    .default('UTC')
    .describe('Time zone of the expression, such as Europe/Berlin. Default UTC.'),
  dst: z
    .strictObject({
      gap: z
        .enum(gaps)
        .default('shift')
        .describe(
          'A time that does not exist on that day: run at the first time after it (shift), or not at all (skip).',
        ),
      overlap: z
        .enum(foldings)
        .default('first')
        .describe('A time that comes twice: fires the first time, the last, or both times.'),
    })
    .prefault({})
    .describe('What happens to times of day when clocks change. Default { gap: shift, overlap: first }.'),
  jitter: duration()
    .prefault(0)
    .describe(
      'Delays each scheduled run by up to this duration; the same run always gets the same delay. Default 0.',
    ),
  spread: z
    .optional(duration(1000))
    .describe(
      'Starts the targets of a run evenly over this duration, each at about the same time in every run. A manual run starts them at once. Default: as fast as limits and budget allow.',
    ),
  overlap: z
    .enum(overlaps)
    .default('skip')
    .describe(
      'When the previous run is still active: skip, queue (one waits), queue-all, cancel-running or allow. Default skip.',
    ),
  catchup: Catchup.prefault(0).describe(
    'A scheduled run missed by no more than this still starts. Default 0: never. With { window, mode }, mode selects which of several: none, last (one run for all, as with only a duration) or all, one after the other.',
  ),
  blackout: z
    .array(Blackout)
    .default([])
    .describe(
      'Days without scheduled runs, in the time zone: names under calendars in config/caretaker.yaml, days, weekdays (sunday) and ranges. Default none.',
    ),
  on_blackout: z
    .enum(['skip', ...blackoutMoves])
    .default('skip')
    .describe(
      'What happens to a time on a day of `blackout`: skip, or the same time of day on the next_workday or previous_workday, a day from Monday to Friday that is not blacked out. Default skip.',
    ),
  enabled: z
    .boolean({ error: 'must be true or false' })
    .default(true)
    .describe(
      'With false the policy has manual runs only, and its scheduled times are recorded as skipped. Default true.',
    ),
  pause_after_failures: z
    .optional(whole(1, 1000))
    .describe(
      'After this many scheduled runs in a row that failed or were stopped, the policy is paused, and the receivers with `paused` under `notify.on` are notified. Default: never.',
    ),
});

/** Where several keys of a schedule have to agree. */
export const Schedule = ScheduleKeys.superRefine(({ cron, after, catchup, dst, on_blackout }, context) => {
  const refuse = (key: string, message: string, suggestion?: string) =>
    context.addIssue({ code: 'custom', path: [key], message, params: { suggestion } });
  if (cron === undefined && after === undefined)
    context.addIssue({
      code: 'custom',
      path: ['cron'],
      message: 'is missing',
      params: { missing: ['cron', 'after'] },
    });
  if (after === undefined) return;
  if (cron !== undefined) refuse('after', 'cannot be used together with "cron"', 'remove one of the two');
  if (catchup.window > 0) refuse('catchup', 'does not apply to "after"', 'use "within" under "after"');
  if (dst.gap !== 'shift' || dst.overlap !== 'first') refuse('dst', 'does not apply to "after"');
  if (on_blackout !== 'skip') refuse('on_blackout', 'does not apply to "after"');
}).meta({ oneOf: [{ required: ['cron'] }, { required: ['after'] }] });
