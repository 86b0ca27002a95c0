/** The state of a staging copy that is stored between the steps of its cleanup. */
import { z } from 'zod';
import { Withdrawal } from '../../src/job/grace/withdraw.ts';

/**
 * `look`: nothing was changed yet. `close`: the copy is gone, and its announcement has to be updated. `withdraw`: the
 * target is an announcement that is to be withdrawn.
 */
export const State = z.discriminatedUnion('step', [
  z.object({
    step: z.literal('look'),
    siteId: z.string(),
    siteUrl: z.string(),
    seen: z.string(),
    expiresAt: z.string(),
    plannedAt: z.number(),
    facts: z.string(),
    /** When the last run began that did not find it stale, if that was the last one. */
    missedAt: z.exactOptional(z.number()),
    /** The names of tags that keep the copies of a site. */
    keepTags: z.exactOptional(z.array(z.string())),
  }),
  z.object({
    step: z.literal('close'),
    siteId: z.string(),
    noteId: z.string(),
    reason: z.enum(['done', 'already-done']),
    facts: z.string(),
  }),
  z.object({ step: z.literal('withdraw'), withdraws: Withdrawal }),
]);
export type State = z.output<typeof State>;
export type PlannedState = Extract<State, { step: 'look' }>;
export type ClosingState = Extract<State, { step: 'close' }>;
