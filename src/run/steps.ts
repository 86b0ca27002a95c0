/** The result of each step of a policy (`steps`) on a target, for people. */
import { z } from 'zod';
import { isoTime, isoTimeOrNull } from '../clock.ts';
import { outcomes, type Run, type Target } from './run.ts';

/** A step of a target, as JSON shows it. */
export const StepReport = z.object({
  step: z.string(),
  state: z
    .enum([...outcomes, 'active', 'not-started'])
    .describe('`active`: the target is at this step. `not-started`: it was not begun.'),
  reason: z.string().nullable(),
  detail: z.string().nullable(),
  task_id: z.string().nullable(),
  finished_at: z.iso.datetime().nullable(),
});
export type StepReport = z.output<typeof StepReport>;

const PolicyWithSteps = z.looseObject({
  steps: z.exactOptional(z.array(z.looseObject({ name: z.string() }))),
});

/** The names of the steps of a run's policy; none when it has a single job. */
export function stepNamesOf({ policyJson }: Pick<Run, 'policyJson'>): string[] {
  const policy = PolicyWithSteps.safeParse(JSON.parse(policyJson));
  return (policy.data?.steps ?? []).map(({ name }) => name);
}

/** `Step 2 (site-sync)`. */
export const stepTitle = (name: string, index: number): string => `Step ${index + 1} (${name})`;

/** A detail that names the step. */
export const withTitle = (title: string, detail: string | undefined): string =>
  detail === undefined ? title : `${title}: ${detail}`;

/** The step that a target is at, from 0; 0 for a policy without steps. */
export const stepOf = ({ ofStep, steps = [] }: Pick<Target, 'ofStep' | 'steps'>): number =>
  ofStep ?? steps.length;

/** The step that an unfinished target is at; undefined before it was started, and for a policy without steps. */
export function activeStepOf(names: readonly string[], target: Target): string | undefined {
  const at = stepOf(target);
  const name = names[at];
  const isActive = target.state !== 'ended' && (target.startedAt !== undefined || at > 0);
  return isActive && name !== undefined ? stepTitle(name, at) : undefined;
}

/** The result of each step of a target. */
export const stepReports = (names: readonly string[], target: Target): StepReport[] =>
  names.map((step, at) => {
    const end = target.steps?.[at];
    const nothing = { reason: null, detail: null, task_id: null, finished_at: null };
    if (end) {
      const { reason, detail = null, taskId = null } = end;
      return { step, state: 'succeeded', reason, detail, task_id: taskId, finished_at: isoTime(end.at) };
    }
    // A target that ended while planning was never at a step.
    const isHere = at === stepOf(target) && target.startedAt !== undefined;
    if (!isHere) return { step, state: 'not-started', ...nothing };
    const { outcome, reason = null, detail = null, taskId = null, finishedAt } = target;
    return {
      step,
      state: outcome ?? 'active',
      reason,
      detail,
      task_id: taskId,
      finished_at: isoTimeOrNull(finishedAt),
    };
  });
