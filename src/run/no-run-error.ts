import { CaretakerError } from '../errors.ts';

/** There is no such run (any more). */
export class NoRunError extends CaretakerError {
  readonly code = 'NOT_FOUND';
  constructor(runId: string) {
    super(`There is no run "${runId}". "caretaker runs" lists them.`);
  }
}
