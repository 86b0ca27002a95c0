/** The service's own recurring updates of core, plugins and themes (spec 2.8). */
import { z } from 'zod';
import { idSchema, known, part, timestamp } from '../schema.ts';

/** How often a schedule runs. */
export const recurrences = [
  'daily',
  'weekly_on_day',
  'biweekly',
  'monthly_on_date',
  'monthly_on_week',
  'monthly_last_day',
] as const;

const Selection = known('all', 'specific');
// Not specified: whether a category that is not updated is absent, null or empty.
const Extensions = z.optional(z.nullable(part({ selection: Selection, filenames: z.array(z.string()) })));

export const AutoUpdateSchedule = part(
  {
    id: idSchema,
    name: z.string(),
    status: known('active', 'paused'),
    schedule: known(...recurrences),
    started_at: timestamp,
    next_update_at: timestamp,
    scope: part({
      // `ids` is present when the selection is specific.
      sites: part({ selection: Selection, ids: z.optional(z.array(idSchema)) }),
      updates: part({ wordpress_core: z.boolean(), plugins: Extensions, themes: Extensions }),
    }),
    options: part({ backup: z.boolean(), visual_regression: z.boolean() }),
    created_at: timestamp,
    updated_at: timestamp,
  },
  'id',
);
export type AutoUpdateSchedule = z.output<typeof AutoUpdateSchedule>;
