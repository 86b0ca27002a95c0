/** Fields that several commands take. */
import { z } from 'zod';
import { parseFuture, parsePast } from '../yaml/written-time.ts';
import { InvalidRequestError } from './errors.ts';

export const reason = z
  .string()
  .trim()
  .max(200)
  .optional()
  .describe('Why, for people who read the audit log.');
export const policyName = z.string().min(1).describe('The name of a policy.');
export const runId = z.string().min(1).describe('The complete id of a run.');
export const ignoreFreeze = z.boolean().optional().describe('Start the run even during a freeze.');
export const detach = z
  .boolean()
  .optional()
  .describe('Leave the work to a daemon; the request is refused when none is running.');
export const onlyWithApproval = z
  .boolean()
  .optional()
  .describe('Refuse the request unless every run of the policy waits for an approval.');
/** When something ends. */
export const until = z
  .string()
  .refine((text) => parseFuture(text, 0) !== undefined, {
    error: 'must be a time such as 2026-12-01T08:00:00Z, or a duration from now such as 3d',
  })
  .describe('When it ends: a time such as 2026-12-01T08:00:00Z, or a duration from now such as 3d.');

/** @throws {InvalidRequestError} when the end is not after `now`, which a message calls `when`. */
export function endOf(text: string, now: number, what = 'end (until)', when = 'in the future'): number {
  const end = parseFuture(text, now);
  if (end !== undefined && end > now) return end;
  throw new InvalidRequestError(`The ${what} must be ${when}; ${text} is not.`);
}

/** A time in the past, as a function of now: `2026-11-01`, `2026-11-01T02:00:00Z`, or `7d` ago. */
export const pastTime = z
  .string()
  .refine((text) => parsePast(text, 0) !== undefined, {
    error: 'must be a time, or a duration back from now, such as 2026-11-01 or 7d',
  })
  .transform((text) => (now: number) => parsePast(text, now))
  .optional();

/** Where a list continues, and how long its pages are. */
export const nextOf = {
  after: z.string().min(1).max(2_000).optional().describe('The `next` of the previous page.'),
};
export const limit = z.coerce.number().int().min(1).max(1000).default(100);

/** One value of a filter, or several: a parameter is repeated for them. */
export const someOf = <Value extends z.ZodType>(value: Value) =>
  z.union([value, z.array(value).min(1).max(100)]).optional();
export const someText = someOf(z.string().min(1).max(200));
