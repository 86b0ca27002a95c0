/** `approval` and `rollout` of a policy file. */
import { z } from 'zod';
import { duration } from '../yaml/duration.ts';
import { parsePercent } from '../yaml/percent.ts';
import { whole } from './file-values.ts';

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
