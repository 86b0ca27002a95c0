import type { Answer } from '../../job/answer.ts';
import type { AnyJob } from '../../job/job.ts';
import { explainEnd } from '../explain-end.ts';
import { jobStateOf } from '../plan/candidates.ts';

/**
 * Converts an answer to the form in which it is recorded: its state as JSON, its end with the sentence of its
 * reason.
 */
export function encodeAnswer(job: AnyJob, answer: Answer): Answer<string> {
  if (answer.is === 'next') return { is: 'next', state: jobStateOf(job, answer.state).jobState ?? 'null' };
  if (answer.is === 'done' || answer.is === 'skipped' || answer.is === 'failed')
    return explainEnd(job, answer);
  if (answer.is !== 'following' || answer.next === undefined) return answer as Answer<string>;
  return { ...answer, next: jobStateOf(job, answer.next).jobState ?? 'null' };
}
