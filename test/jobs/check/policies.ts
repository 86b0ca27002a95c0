/** Policies with the job check. */
import { check } from '../../../jobs/check/job.ts';
import { mistakesOf, policyOf } from '../policies.ts';

export const checkOf = (select: string, options?: string) => policyOf(check, select, options);

/** What is wrong with a check, each with its suggestion. */
export const mistakesIn = (select: string, options?: string): string[] =>
  mistakesOf(check, select, options).map((mistake) => mistake.replace(/^\S+ /, ''));
