/** `limits` of a policy file. */
import { z } from 'zod';
import { duration } from '../yaml/duration.ts';
import { parsePercent, percent } from '../yaml/percent.ts';

// Kinds of values that several keys of a policy file have.

export const whole = (least: number, most: number) =>
  z
    .int({ error: `must be a whole number from ${least} to ${most}` })
    .min(least)
    .max(most);

export const name = z
  .string()
  .regex(
    /^[a-z0-9][a-z0-9-]{0,62}$/,
    'must consist of lowercase letters, digits and hyphens, at most 63, such as nightly-sync',
  );

const thresholdForms = 'must be a number of targets from 1, or a percentage such as 10%';

const changeForms = 'must be a percentage such as 50%, a number of targets from 1, or none';

const thresholdSchemas = [
  { type: 'integer' as const, minimum: 1, maximum: Number.MAX_SAFE_INTEGER },
  {
    type: 'string' as const,
    pattern: String.raw`^(?=[0-9.]*[1-9])(0?[0-9]{1,2}(\.[0-9]+)?|100(\.0+)?)\s*%$`,
  },
];

const readThreshold = (forms: string) => (value: string | number | undefined, context: z.RefinementCtx) => {
  if (value === undefined) return undefined;
  const points = typeof value === 'string' ? parsePercent(value) : undefined;
  if (points !== undefined && points > 0) return { percent: points };
  if (typeof value === 'number' && value > 0) return { count: value };
  context.addIssue({ code: 'custom', message: forms, params: { form: true } });
  return z.NEVER;
};

const groupLimits = (targets: string) =>
  z
    .strictObject({
      concurrency: z
        .optional(whole(1, 1000))
        .describe(`${targets} of one run in flight at the same time. Default no limit.`),
      max_targets: z
        .optional(whole(1, 100_000))
        .describe(
          `A plan with more ${targets.toLowerCase()} stops the run before anything is sent. Default no limit.`,
        ),
    })
    .refine(({ concurrency, max_targets }) => concurrency !== undefined || max_targets !== undefined, {
      error: 'must have "concurrency" or "max_targets"',
    })
    .meta({ minProperties: 1 });

export const Limits = z.strictObject({
  concurrency: whole(1, 1000)
    .default(20)
    .describe('Targets of one run in flight at the same time. Default 20.'),
  max_targets: whole(1, 100_000)
    .default(1000)
    .describe('A larger plan stops the run before anything is sent. Default 1000.'),
  max_percent: percent(1, 100)
    .prefault(100)
    .describe('A plan with a larger percentage of all candidates stops the run as well. Default 100%.'),
  per_client: z
    .optional(groupLimits('Targets of one client'))
    .describe('For the targets of each client. Default no limits.'),
  per_tag: z
    .optional(groupLimits('Targets with one tag'))
    .describe('For the targets with each tag; one with several tags counts for each. Default no limits.'),
  max_change: z
    .optional(z.union([z.int(), z.string()], { error: changeForms }))
    .transform((value, context) =>
      value === 'none' ? ('none' as const) : readThreshold(changeForms)(value, context),
    )
    .meta({ anyOf: [{ enum: ['none'] }, ...thresholdSchemas] })
    .describe(
      'How far the number of targets may be outside the range of the last five whole runs: a percentage, a number of targets, or none. Beyond it, a scheduled run stops before anything is sent. Default 50% and more than 10 targets for work that deletes or mails, none for any other.',
    ),
  stop_after_failures: z
    .optional(z.union([z.int(), z.string()], { error: thresholdForms }))
    .transform(readThreshold(thresholdForms))
    .meta({
      anyOf: [...thresholdSchemas],
    })
    .describe(
      'This many failed targets stop the run, or this percentage of the plan once at least three have failed. Default: never.',
    ),
});

// The keys of `record`, as an operator writes them.

const CustomWork = z.strictObject({
  title: z
    .string()
    .min(1)
    .describe(
      'Its title, cut at 150 characters. `{{ ... }}` holds a CEL expression over `site`, `run` and `outcome`.',
    ),
  description: z
    .optional(z.string())
    .describe('Its description, cut at 480 characters, with the same expressions. Default none.'),
});

export const Record = z
  .strictObject({
    custom_work: z
      .optional(CustomWork)
      .describe(
        'One custom work entry for each site and day (in the time zone of the schedule) on which a run made its change. Default none.',
      ),
    note: z
      .optional(z.enum(['living']))
      .describe(
        'living: one note for each site, which is updated after each run that worked on it. Default none.',
      ),
  })
  .refine(({ custom_work, note }) => custom_work !== undefined || note !== undefined, {
    error: 'must have custom_work, note or both',
  })
  .meta({ minProperties: 1 });

// `approval` and `rollout` of a policy file.

const percentPattern = String.raw`^(0?[0-9]{1,2}(\.[0-9]+)?|100(\.0+)?)\s*%$`;
const positivePercent = String.raw`^(?=[0-9.]*[1-9])(0?[0-9]{1,2}(\.[0-9]+)?|100(\.0+)?)\s*%$`;

export const Approval = z.strictObject({
  when: z
    .union(
      [
        z.enum(['always', 'destructive']),
        z.strictObject({
          over: z
            .strictObject({ targets: whole(0, 100_000).describe('The number of targets.') })
            .describe('Only plans with more targets than this need an approval.'),
        }),
      ],
      { error: 'must be always, destructive, or { over: { targets: 20 } }' },
    )
    .describe(
      'Which runs need an approval before they start: always; destructive: runs that can call a destructive operation; { over: { targets: 20 } }: runs with more targets.',
    ),
  by: z
    .optional(z.array(z.string().min(1)).min(1))
    .describe(
      'Who may decide: names of roles or users. Default all users with the role approver or admin for the policy.',
    ),
  expires: duration(60_000)
    .prefault('24h')
    .describe('How long a run waits for the decision; then it is cancelled. Default 24h.'),
  separate: z
    .boolean()
    .default(false)
    .describe('The user who started the run may not approve it. Default false.'),
  each_batch: z
    .boolean()
    .default(false)
    .describe('With `rollout`: each batch needs an approval of its own. Default false.'),
});

const batchForms = 'must be a number of targets from 1, a percentage such as 10%, or { where: <condition> }';

const Batch = z
  .union(
    [
      z.int(),
      z.string(),
      z.strictObject({
        where: z
          .string()
          .describe('A CEL condition over each candidate and `now`: the targets for which it holds.'),
      }),
    ],
    { error: batchForms },
  )
  .transform((value, context) => {
    if (typeof value === 'object') return value;
    const points = typeof value === 'string' ? parsePercent(value) : undefined;
    if (points !== undefined && points > 0) return { percent: points };
    if (typeof value === 'number' && value > 0) return { count: value };
    context.addIssue({ code: 'custom', message: batchForms, params: { form: true } });
    return z.NEVER;
  })
  .meta({
    anyOf: [
      { type: 'integer', minimum: 1, maximum: Number.MAX_SAFE_INTEGER },
      { type: 'string', pattern: positivePercent },
      {
        type: 'object',
        properties: {
          where: {
            type: 'string',
            description: 'A CEL condition over each candidate and `now`: the targets for which it holds.',
          },
        },
        required: ['where'],
        additionalProperties: false,
      },
    ],
  });

const allowedForms = 'must be a number of targets from 0, or a percentage such as 5%';

const MaxFailed = z
  .union([z.int(), z.string()], { error: allowedForms })
  .transform((value, context) => {
    const points = typeof value === 'string' ? parsePercent(value) : undefined;
    if (points !== undefined) return { percent: points };
    if (typeof value === 'number' && value >= 0) return { count: value };
    context.addIssue({ code: 'custom', message: allowedForms, params: { form: true } });
    return z.NEVER;
  })
  .meta({
    anyOf: [
      { type: 'integer', minimum: 0, maximum: Number.MAX_SAFE_INTEGER },
      { type: 'string', pattern: percentPattern },
    ],
  });

export const Rollout = z.strictObject({
  batches: z
    .array(Batch)
    .min(1)
    .max(20)
    .describe(
      'The batches in order: a number of targets, a percentage of the whole plan, or { where: <condition> }. Each takes from what the batches before it left, in the order of the plan. What no batch takes is a last batch.',
    ),
  pause: duration()
    .prefault(0)
    .describe('How long the run waits when the targets of a batch have ended. Default 0.'),
  max_failed: MaxFailed.prefault(0).describe(
    'More failed targets than this, or than this percentage of the targets that are done, close the gate before the next batch. Default 0.',
  ),
  healthy: z
    .optional(z.string())
    .describe(
      'A CEL condition, as `select.where`, that has to hold for every target that is done before the next batch begins. They are read again for it. Default none.',
    ),
  wait_when_closed: duration()
    .prefault(0)
    .describe(
      'How long a run whose gate is closed waits for a person who resumes it, before it ends as stopped. Default 0: it ends at once.',
    ),
});
