/**
 * The error of a task, from the steps in its single view (spec 2.10). The spec does not define the form of
 * these errors.
 */
import type { Answer } from '../contract/operations.ts';

export type TaskSite = NonNullable<NonNullable<Answer<'showTask'>['task']['details']>['sites']>[number];

/** A step that failed, and the service's message, if any. */
export interface StepError {
  step: string;
  aborted: boolean;
  message?: string;
}

/** The first step of a site that failed, was aborted or shows an error. */
export function stepErrorOf({ steps = [] }: TaskSite): StepError | undefined {
  const wrong = steps.find(
    ({ status, error }) => status === 'failed' || status === 'aborted' || Object.keys(error ?? {}).length > 0,
  );
  if (!wrong) return undefined;
  const { error = {}, status, type } = wrong;
  const said = [error['message'], error['code']].find((one) => typeof one === 'string' && one !== '');
  const says = said ?? (Object.keys(error).length > 0 ? JSON.stringify(error) : undefined);
  const found = { step: type ?? 'a step', aborted: status === 'aborted' };
  return says === undefined ? found : { ...found, message: String(says).replace(/(?<![.!?])$/, '.') };
}
