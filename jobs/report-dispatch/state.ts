/** What a report to be made and sent remembers from step to step. */
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
  /** What the policy's report on the days is told from others by, besides its site: see `report-once.ts`. */
  scope: z.string().default(''),
  /**
   * The subjects that a report of this policy may have, where they tell it apart: the template's, or the
   * policy's own.
   */
  subjects: z.array(z.string()).optional(),
  clientId: z.string().optional(),
  /** Everybody who is to have it, and who of them is sent it next. */
  asked: z.array(z.string()),
  to: z.array(z.string()),
  /**
   * Some had it before, and it did not arrive: somebody asked for another try. What had become of it by then.
   */
  before: z.array(earlierMail).optional(),
  /** Those to whom it may have been sent before: the report does not show it. */
  untold: z.array(z.string()).optional(),
  /** The report was in the account already, and no record of ours has it. */
  adopted: z.literal(true).optional(),
  /** It goes to the client's address instead, because of what was missed before. */
  instead: z.array(z.string()).optional(),
};
const made = z.object({ id: z.string(), madeAt: z.number() });
export const State = z.discriminatedUnion('step', [
  z.object({ step: z.literal('make'), ...mailing }),
  z.object({ step: z.literal('await'), ...mailing, taskId: z.string() }),
  z.object({
    step: z.literal('find'),
    ...mailing,
    since: z.number(),
    /** Whether the task that was followed is ours for sure, may be ours, or is somebody else's. */
    whose: z.enum(['ours', 'perhaps ours', "somebody's"]),
  }),
  z.object({ step: z.literal('archive'), ...mailing, report: made }),
  z.object({ step: z.literal('send'), ...mailing, report: made }),
  z.object({ step: z.literal('tell'), ...mailing, report: made, refused: z.array(z.string()) }),
]);
export type State = z.output<typeof State>;
export type Mailing = z.output<z.ZodObject<typeof mailing>>;
export type Step<Name extends State['step']> = Extract<State, { step: Name }>;

/** The step that comes when there is a report: it is kept, where there is a folder for it, and then sent. */
export const withReport = (
  mailing: Mailing,
  report: Item<'listReports'>,
  { archive_dir }: { archive_dir?: string | undefined },
): State => ({
  ...mailing,
  step: archive_dir === undefined ? 'send' : 'archive',
  report: { id: report.id, madeAt: Date.parse(report.created_at ?? '') || 0 },
});
