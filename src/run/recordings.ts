/** What a run writes to the sites it worked on (`record:` of its policy), and whether that is written. */
import { z } from 'zod';

const { exactOptional: optional } = z;

/**
 * `left`: a person has removed or changed the note, so it is left as it is. `failed`: not recorded, with the
 * cause.
 */
const state = z.enum(['pending', 'recorded', 'left', 'failed']);

/** What a run writes to one site. */
export const SiteRecord = z.object({
  /** How many of its targets of this site made their change, and how many failed. */
  done: z.number(),
  failed: z.number(),
  /** Why the last one failed. */
  reason: optional(z.string()),
  /** When the first change was done, and when a target of the site ended last. */
  at: optional(z.number()),
  since: z.number(),
  /** The states of the custom work entry and the note; missing when the run does not write them. */
  work: optional(state),
  workWhy: optional(z.string()),
  note: optional(state),
  noteWhy: optional(z.string()),
});
export type SiteRecord = z.output<typeof SiteRecord>;

/** A record of a run that was not written. */
export const Unrecorded = z.object({
  site: z.string(),
  kind: z.enum(['work', 'note']),
  state: z.enum(['left', 'failed']),
  why: z.string(),
});

/** How many records a run has in each state, and the requests that they have cost. */
export const RecordingCounts = z.object({
  wanted: z.number(),
  recorded: z.number(),
  failed: z.number(),
  left: z.number(),
  requests: z.number(),
  /** The first ten that were not written. */
  first: optional(z.array(Unrecorded)),
});
export type RecordingCounts = z.output<typeof RecordingCounts>;
