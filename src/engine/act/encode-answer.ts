import type { StepAnswer } from '../../job/answer.ts';
import type { AnyJob } from '../../job/job.ts';
import { explainEnd } from '../explain-end.ts';
import { jobStateOf } from '../plan/candidates.ts';

/**
 * Converts an answer to the form in which it is recorded: its state as JSON, its end with the sentence of its
 * reason.
 */
export function encodeAnswer(job: AnyJob, answer: StepAnswer): StepAnswer<string> {
  const textOf = (state: unknown) => jobStateOf(job, state).jobState ?? 'null';
  if (answer.is === 'next') return { is: 'next', state: textOf(answer.state) };
  if (answer.is === 'step-done')
    return { ...answer, end: explainEnd(job, answer.end), state: textOf(answer.state) };
  if (answer.is === 'done' || answer.is === 'skipped' || answer.is === 'failed')
    return explainEnd(job, answer);
  if (answer.is !== 'following' || answer.next === undefined) return answer as StepAnswer<string>;
  return { ...answer, next: textOf(answer.next) };
}
