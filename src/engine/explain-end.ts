import type { End } from '../job/answer.ts';
import type { AnyJob } from '../job/job.ts';
import { coreReasonText } from '../run/reasons.ts';

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
