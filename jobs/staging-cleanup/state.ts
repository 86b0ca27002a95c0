/** What the cleanup of a staging copy keeps from one step to the next. */
import { z } from 'zod';

/** `look`: nothing was changed yet. `close`: the copy is gone, and the note that announced it is to say so. */
export const State = z.discriminatedUnion('step', [
  z.object({
    step: z.literal('look'),
    siteId: z.string(),
    siteUrl: z.string(),
    seen: z.string(),
    expiresAt: z.string(),
    plannedAt: z.number(),
    facts: z.string(),
  }),
  z.object({
    step: z.literal('close'),
    siteId: z.string(),
    noteId: z.string(),
    reason: z.enum(['done', 'already-done']),
    facts: z.string(),
  }),
]);
export type State = z.output<typeof State>;
export type Look = Extract<State, { step: 'look' }>;
export type Close = Extract<State, { step: 'close' }>;
