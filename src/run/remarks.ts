/** What planning found wrong with a run as a whole. It becomes a finding of the policy when the run ends. */
import { z } from 'zod';

export const Remark = z.object({
  /** The policy refers to something that the account does not have; or a list that was read is incomplete. */
  is: z.enum(['reference', 'list']),
  severity: z.enum(['error', 'warning']),
  /** The subject, in a word or two: `tag "99999" (select.filters.tags)`. */
  about: z.string(),
  message: z.string(),
});
export type Remark = z.output<typeof Remark>;

/** What stands for the policy itself among the targets of findings. */
export const targetOfPolicy = (policy: string): string => `policy ${policy}`;

/** The policy that such a target stands for; undefined for any other. */
export const policyOfTarget = (target: string): string | undefined =>
  target.startsWith('policy ') ? target.slice('policy '.length) : undefined;

/** Whether a list that the run works on is known to be incomplete: then it did not do everything. */
export const isIncomplete = ({ remarks = [] }: { remarks?: readonly Remark[] | undefined }): boolean =>
  remarks.some(({ is }) => is === 'list');
