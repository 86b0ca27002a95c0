/** `limits` of a policy file. */
import { z } from 'zod';
import { parsePercent, percent } from '../yaml/percent.ts';
import { whole } from './file-values.ts';

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
