import type { End } from '../job/answer.ts';
import type { AnyJob } from '../job/job.ts';
import type { Policy } from '../policy/policy.ts';
import { coreReasonText } from '../run/reasons.ts';
import type { Target } from '../run/run.ts';
import { stepOf, stepTitle, withTitle } from '../run/steps.ts';

/**
 * Completes an end for the record. When a job gives a reason of its own without a detail, the sentence of
 * that reason becomes the detail, so that readers of the record do not need the job. A reason that the job
 * does not declare is an error in the job.
 */
export function explainEnd({ name, reasons = {} }: Pick<AnyJob, 'name' | 'reasons'>, end: End): End {
  if (coreReasonText(end.reason) !== undefined) return end;
  if (!Object.hasOwn(reasons, end.reason)) {
    const detail = `The job ${name} gave the reason "${end.reason}", which it does not declare.`;
    return { is: 'failed', reason: 'internal', detail };
  }
  return end.detail === undefined ? { ...end, detail: reasons[end.reason]?.text ?? '' } : end;
}

/**
 * A target of a policy with steps that did not succeed, with the step that it ended at in its detail. Any
 * other target as it is.
 */
export function namingStep<T extends Target>({ steps }: Pick<Policy, 'steps'>, target: T): T {
  const at = stepOf(target);
  const name = steps?.[at]?.name;
  const { outcome, reason, detail = reason && coreReasonText(reason) } = target;
  if (name === undefined || (outcome !== 'failed' && outcome !== 'skipped')) return target;
  return { ...target, detail: withTitle(stepTitle(name, at), detail) };
}
