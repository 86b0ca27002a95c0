/** The options of staging-cleanup: what is stale, and what is done with it. */
import { z } from 'zod';
import { DAY_MS } from '../../src/dates.ts';
import { Withdrawal } from '../../src/job/grace/withdraw.ts';
import { duration } from '../../src/job/options.ts';
import { reference } from '../../src/job/references.ts';
import { idleStatuses } from './copies.ts';

export const Options = z
  .strictObject({
    action: z
      .enum(['report', 'delete', 'extend'])
      .default('report')
      .describe(
        'What to do with stale copies: `report` reports them and changes nothing, `delete` deletes them after the grace period, `extend` extends their life. Default report.',
      ),
    older_than: z
      .optional(duration(1000))
      .describe('A condition for stale copies: created longer ago than this.'),
    expires_within: z
      .optional(duration())
      .describe('A condition for stale copies: expires within this time, or has expired.'),
    status: z
      .optional(z.array(z.enum(idleStatuses)).min(1))
      .describe('A condition for stale copies: has one of these statuses.'),
    keep_latest: z
      .optional(z.int().min(1))
      .describe('A condition for stale copies: is not one of this many newest copies of its live site.'),
    unless_tagged: z
      .optional(z.array(reference('tag')).min(1))
      .describe('Copies of live sites with one of these tags are kept: ids, or `{ name: ... }`.'),
    days: z.optional(z.int().min(1)).describe('By how many days `extend` extends the life of a copy.'),
    grace: z
      .optional(duration())
      .describe(
        'How long a deletion is announced before it is made, in a note on the live site; 0 deletes without a note. Default 3d.',
      ),
    marker: z
      .string()
      .regex(/^[^[\]\n]{8,100}$/, 'must have 8 to 100 characters, none of them a bracket')
      .default('caretaker staging-cleanup')
      .describe('The text by which announcements are recognized. Default `caretaker staging-cleanup`.'),
  })
  .superRefine(({ action, older_than, expires_within, status, keep_latest, days }, { addIssue }) => {
    const addError = (name: string, message: string) => addIssue({ code: 'custom', path: [name], message });
    if ([older_than, expires_within, status, keep_latest].every((condition) => condition === undefined)) {
      const message = 'needs older_than, expires_within, status or keep_latest to define what is stale';
      addIssue({ code: 'custom', path: [], message });
    }
    if (action !== 'extend' && days !== undefined) addError('days', 'applies only to action: extend');
    if (action !== 'extend') return;
    if (days === undefined) addError('days', 'is required by action: extend');
    else if (expires_within === undefined) {
      addError('expires_within', 'is required by action: extend, or each run would extend a copy again');
    } else if (days * DAY_MS <= expires_within) {
      addError('days', 'must be longer than "expires_within", or each run would extend a copy again');
    }
  });
export type Options = z.output<typeof Options>;

// The state of a staging copy that is stored between the steps of its cleanup.

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
