/** The history of the runs of auto update schedules (spec 2.9). Entries have no id of their own. */
import { z } from 'zod';
import { idSchema, known, part, timestamp } from '../schema.ts';
import { taskStatuses } from './shared.ts';

/** The status of a run; `no_updates` has no task. */
export const historyStatuses = [...taskStatuses, 'no_updates'] as const;

const Versions = { current_version: z.string(), target_version: z.string() };
const Extension = part({ name: z.string(), slug: z.string(), filename: z.string(), ...Versions });

export const AutoUpdateHistoryEntry = part(
  {
    auto_update_schedule: part({ id: idSchema, name: z.string() }, 'id'),
    performed_on: timestamp,
    task_id: z.nullable(idSchema),
    status: known(...historyStatuses),
    // Only sites available to the caller. Not specified: the value of `core` in a run that does not update
    // the core.
    sites: z.array(
      part(
        {
          id: idSchema,
          wp: part({
            core: z.optional(z.nullable(part(Versions))),
            plugins: z.array(Extension),
            themes: z.array(Extension),
          }),
        },
        'id',
      ),
    ),
  },
  'status',
);
export type AutoUpdateHistoryEntry = z.output<typeof AutoUpdateHistoryEntry>;
