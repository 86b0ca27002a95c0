/**
 * `config/policies/*.yaml` as an operator writes them: one description for reading, `caretaker schema` and
 * the docs. Names here are those of the file; `to-policy.ts` alone translates them into `Policy`.
 *
 * What needs more than the file itself to be judged (is there such a job? does the operation take this
 * filter?) is in `check-policy.ts`.
 */
import { z } from 'zod';
import { timezoneFault, zoneHint } from '../dates.ts';
import { type CandidateList, candidateLists } from '../job/candidates.ts';
import { isFinal } from '../run/moves.ts';
import { runStatuses } from '../run/run.ts';
import { DayRange } from '../yaml/days.ts';
import { duration } from '../yaml/duration.ts';
import { parsePercent, percent } from '../yaml/percent.ts';
import { cronFault } from './cron.ts';
import { placeholderName } from './placeholders.ts';
import { chainStatuses, foldings, gaps, overlaps, priorities } from './policy.ts';

/** A schema that refuses texts for which `fault` returns a message, with a suggestion from `hint`. */
const judged = (
  fault: (text: string) => string | undefined,
  hint: (text: string) => string | undefined = () => undefined,
) =>
  z.string().superRefine((text, context) => {
    const message = fault(text);
    if (message === undefined) return;
    context.addIssue({ code: 'custom', message, params: { suggestion: hint(text) } });
  });

const whole = (least: number, most: number) =>
  z
    .int({ error: `must be a whole number from ${least} to ${most}` })
    .min(least)
    .max(most);

const name = z
  .string()
  .regex(
    /^[a-z0-9][a-z0-9-]{0,62}$/,
    'must consist of lowercase letters, digits and hyphens, at most 63, such as nightly-sync',
  );

const timezone = judged(timezoneFault, zoneHint);
const cron = judged(cronFault);

const Blackout = z.union([DayRange, z.string()], {
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

const After = z.strictObject({
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
});

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
  enabled: z
    .boolean({ error: 'must be true or false' })
    .default(true)
    .describe(
      'With false the policy has manual runs only, and its scheduled times are recorded as skipped. Default true.',
    ),
  pause_after_failures: z
    .optional(whole(1, 1000))
    .describe(
      'So many scheduled runs in a row that failed or were stopped pause the policy, and notify those who have `paused` under `notify.on`. Default: never.',
    ),
});

/** Where several keys of a schedule have to agree. */
const Schedule = ScheduleKeys.superRefine(({ cron, after, catchup, dst }, context) => {
  const refuse = (key: string, message: string, suggestion?: string) =>
    context.addIssue({ code: 'custom', path: [key], message, params: { suggestion } });
  if (cron === undefined && after === undefined)
    context.addIssue({ code: 'invalid_type', expected: 'string', path: ['cron'], input: undefined });
  if (after === undefined) return;
  if (cron !== undefined) refuse('after', 'cannot be used together with "cron"', 'remove one of the two');
  if (catchup.window > 0) refuse('catchup', 'does not apply to "after"', 'use "within" under "after"');
  if (dst.gap !== 'shift' || dst.overlap !== 'first') refuse('dst', 'does not apply to "after"');
}).meta({ oneOf: [{ required: ['cron'] }, { required: ['after'] }] });

const Scalar = z.union([z.string(), z.number(), z.boolean()], {
  error: 'must be a string, a number, true or false',
});

const Select = z.strictObject({
  from: z
    .optional(z.enum(Object.keys(candidateLists) as [CandidateList, ...CandidateList[]]))
    .describe(
      "The list operation the candidates come from, for a job that works on any. Default the job's own.",
    ),
  filters: z
    .record(
      z.string(),
      z.record(
        z.string(),
        z.union([Scalar, z.array(Scalar)], { error: 'must be a value, or a list of values with "in"' }),
        { error: 'must be an operator with a value, such as { eq: connected }' },
      ),
    )
    .default({})
    .describe(
      "The list operation's own filters, sent to the API: { field: { operator: value } }. Default none.",
    ),
  where: z
    .optional(z.string())
    .describe(
      'A CEL condition over each candidate and `now`; only those it holds for are taken. Default all.',
    ),
  sort: z
    .optional(z.string())
    .describe("Field and direction: last_sync_at,asc. Default the API's own order."),
  timezone: z.optional(timezone).describe('Time zone in which the API reads times in filters. Default UTC.'),
  limit: z.optional(whole(1, 100_000)).describe('At most so many targets a run. Default no limit.'),
});

const thresholdForms = 'must be a number of targets from 1, or a percentage such as 10%';

const Limits = z.strictObject({
  concurrency: whole(1, 1000)
    .default(20)
    .describe('Targets of one run in flight at the same time. Default 20.'),
  max_targets: whole(1, 100_000)
    .default(1000)
    .describe('A larger plan stops the run before anything is sent. Default 1000.'),
  max_percent: percent(1, 100)
    .prefault(100)
    .describe('A plan with a larger percentage of all candidates stops the run as well. Default 100%.'),
  stop_after_failures: z
    .optional(z.union([z.int(), z.string()], { error: thresholdForms }))
    .transform((value, context) => {
      if (value === undefined) return undefined;
      const points = typeof value === 'string' ? parsePercent(value) : undefined;
      if (points !== undefined && points > 0) return { percent: points };
      if (typeof value === 'number' && value > 0) return { count: value };
      context.addIssue({
        code: 'custom',
        message: thresholdForms,
      });
      return z.NEVER;
    })
    .describe(
      'This many failed targets stop the run, or this percentage of the plan once at least three have failed. Default: never.',
    ),
});

const Retry = z
  .strictObject({
    attempts: whole(1, 20).default(4).describe('How often one target is tried in all. Default 4.'),
    backoff: z
      .enum(['exponential', 'fixed'])
      .default('exponential')
      .describe('Whether the delay doubles each time or stays. Default exponential.'),
    delay: duration(1000).prefault('30s').describe('Wait before the second attempt. Default 30s.'),
    max_delay: duration(1000).prefault('15m').describe('The longest wait between attempts. Default 15m.'),
  })
  .refine(({ delay, max_delay }) => delay <= max_delay, {
    path: ['max_delay'],
    error: 'must be a duration that is not shorter than "delay"',
  });

const Timeout = z
  .strictObject({
    target: z
      .optional(duration(1000))
      .describe('How long one target may take. Default 2h, or as long as the run.'),
    run: duration(1000).prefault('8h').describe('How long the run may take. Default 8h.'),
  })
  .refine(({ target, run }) => target === undefined || target <= run, {
    path: ['target'],
    error: 'must be a duration that is not longer than "run"',
  });

/**
 * What a policy may notify about: every end of a run, that the account refuses access, that it was paused by
 * itself, and that findings are new or resolved.
 */
const tellable = [
  ...runStatuses.filter(isFinal),
  ...(['blocked', 'paused', 'findings', 'recovered'] as const),
];

const Notify = z.strictObject({
  on: z
    .array(z.enum(tellable))
    .min(1)
    .default(['failed', 'partial', 'stopped', 'blocked', 'paused'])
    .describe(
      'Which ends of a run are reported; blocked: the account refuses requests; paused: by pause_after_failures; findings: a run has new findings; recovered: earlier findings are resolved. Default failed, partial, stopped, blocked, paused.',
    ),
  to: z.string().describe('A name under notifications in config/caretaker.yaml.'),
});

const combinations = z.array(z.record(z.string(), z.unknown())).min(1);

/** Read before the rest of its policy; the policies that it makes do not have it. */
export const Matrix = z
  .object({
    include: z
      .optional(combinations)
      .describe('Combinations besides those of the lists. Each has a value for every key. Default none.'),
    exclude: z
      .optional(combinations)
      .describe('Combinations that make no policy, by some or all of their values. Default none.'),
  })
  .catchall(z.array(z.unknown()).min(1));

const Entry = z.strictObject({
  name: name.describe('The name of the policy, once in all files.'),
  description: z.optional(z.string()).describe('One line for people. Default none.'),
  matrix: z
    .optional(Matrix)
    .describe(
      `Lists of values by name. Each combination makes one policy, at most 200 in all; \`\${{ matrix.<name> }}\` is its value. Default none: one policy.`,
    ),
  account: z
    .string()
    .default('default')
    .describe('A name under accounts in config/caretaker.yaml. Default default.'),
  job: z.string().describe('The kind of work: the name of a file in jobs/.'),
  priority: z
    .enum(priorities)
    .default('normal')
    .describe(
      'Against other runs of the account: high has three times as much in flight as normal, and normal as low. Default normal.',
    ),
  schedule: z.optional(Schedule).describe('When it fires. Default: only by `caretaker run`.'),
  select: Select.prefault({}).describe('Which candidates become targets. Default all.'),
  with: z.optional(z.record(z.string(), z.unknown())).describe("The job's own options. Default none."),
  limits: Limits.prefault({}).describe('What keeps a run from going too far.'),
  retry: Retry.prefault({}).describe('What happens when a target fails for a reason that may pass.'),
  timeout: Timeout.prefault({}).describe('How long things may take.'),
  notify: z
    .array(Notify)
    .default([])
    .describe('Notification channels for ends of runs, an automatic pause and findings. Default none.'),
  record: z
    .optional(z.never({ error: 'is not built yet; leave it out' }))
    .describe('Not built yet: what is written to the site for client reports.'),
});
/** Where several keys have to agree. */
export const PolicyEntry = Entry.refine(
  ({ schedule, timeout }) => schedule?.spread === undefined || schedule.spread < timeout.run,
  { path: ['schedule', 'spread'], error: 'must be a duration that is shorter than "timeout.run"' },
);
export type PolicyEntry = z.output<typeof PolicyEntry>;

const variable = z
  .string()
  .regex(
    placeholderName,
    'must consist of letters, digits, hyphens and underscores, and start with a letter or an underscore, such as region',
  );

/**
 * A file of policies before it is expanded. Its policies are read one by one, so that one with errors leaves
 * the others usable.
 */
export const PolicyFileOutline = z.strictObject({
  vars: z
    .record(
      variable,
      z.unknown().refine((value) => value !== null, { error: 'must have a value' }),
    )
    .default({})
    .describe(`Values by name, to be used in this file as \`\${{ vars.<name> }}\`. Default none.`),
  defaults: z
    .optional(z.record(z.string(), z.unknown()))
    .describe(
      'Keys of a policy that every policy of this file has. Its own keys come first; maps are merged. Default none.',
    ),
  policies: z.array(z.unknown()).describe('One or more policies.'),
});
