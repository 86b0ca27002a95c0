/** The state of a report that is stored between its steps. */
import { z } from 'zod';
import type { Item } from '../../src/contract/operations.ts';

const earlierMail = z.object({
  email: z.string(),
  sent_at: z.string().nullish(),
  status: z.string().optional(),
});
const mailing = {
  facts: z.record(z.string(), z.string()),
  templateId: z.string(),
  senderId: z.string(),
  /** Together with site and days, it identifies the policy's report: see `scopeOf` in `claims.ts`. */
  scope: z.string().default(''),
  /** With `dedupe_by: subject`: the subjects that a report of this policy may have. */
  subjects: z.array(z.string()).optional(),
  clientId: z.string().optional(),
  /** All recipients, and those to whom it is sent next. */
  recipients: z.array(z.string()),
  to: z.array(z.string()),
  /** For a retry: the earlier mails that were not delivered, as the report showed them. */
  before: z.array(earlierMail).optional(),
  /** The recipients to whom it may have been sent before, because the report does not show its recipients. */
  unconfirmed: z.array(z.string()).optional(),
  /** The report was already in the account and is not in our records. */
  adopted: z.literal(true).optional(),
  /** It is sent to the client's current address because of these failed mails. */
  instead: z.array(z.string()).optional(),
};
const made = z.object({ id: z.string(), madeAt: z.number() });
export const State = z.discriminatedUnion('step', [
  z.object({ step: z.literal('make'), ...mailing }),
  z.object({
    step: z.literal('await'),
    ...mailing,
    task: z.object({ taskId: z.string(), startedAt: z.number() }),
  }),
  z.object({
    step: z.literal('find'),
    ...mailing,
    since: z.number(),
    /** Whether the followed task is ours, may be ours, or belongs to someone else. */
    taskOwner: z.enum(['own', 'maybe-own', 'other']),
  }),
  z.object({ step: z.literal('archive'), ...mailing, report: made }),
  z.object({ step: z.literal('send'), ...mailing, report: made }),
  z.object({ step: z.literal('report'), ...mailing, report: made, refused: z.array(z.string()) }),
]);
export type State = z.output<typeof State>;
export type Mailing = z.output<z.ZodObject<typeof mailing>>;
export type Step<Name extends State['step']> = Extract<State, { step: Name }>;

/** The next step when the report exists: `archive` if there is a folder for it, otherwise `send`. */
export const withReport = (
  mailing: Mailing,
  report: Item<'listReports'>,
  { archive_dir }: { archive_dir?: string | undefined },
): State => ({
  ...mailing,
  step: archive_dir === undefined ? 'send' : 'archive',
  report: { id: report.id, madeAt: Date.parse(report.created_at ?? '') || 0 },
});
