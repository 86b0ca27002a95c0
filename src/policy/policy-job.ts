/** The job of a policy: the one that it names, or one that does its steps one after the other. */
import type { AnyJob } from '../job/job.ts';
import type { Registry } from '../job/registry.ts';
import { jobOfSteps } from '../job/steps.ts';
import type { Policy } from './policy.ts';

/** Undefined when the registry lacks the job, or that of a step. */
export function jobOf(
  registry: Pick<Registry, 'get'>,
  { job, steps }: Pick<Policy, 'job' | 'steps'>,
): AnyJob | undefined {
  if (!steps) return registry.get(job);
  const known = steps.flatMap((step) => {
    const one = registry.get(step.job);
    return one ? [{ ...step, job: one }] : [];
  });
  return known.length === steps.length ? jobOfSteps(known) : undefined;
}

/** The names of the jobs that a policy uses. */
export const jobsOf = ({ job, steps }: Pick<Policy, 'job' | 'steps'>): string[] =>
  steps ? steps.map((step) => step.job) : [job];
