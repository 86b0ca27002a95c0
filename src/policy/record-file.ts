/** The keys of `record`, as an operator writes them. */
import { z } from 'zod';

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
