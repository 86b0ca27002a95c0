import { CaretakerError, messageOf } from '../errors.ts';

/** A part of what was asked for was done before it was refused: the message says which. */
export class PartlyDoneError extends CaretakerError {
  readonly code = 'PARTLY_DONE';
  constructor(done: string, cause: unknown) {
    super(`${done}; the rest was not done. ${messageOf(cause)}`, { cause });
  }
}

/** The decision is not possible, or not for this person. */
export class ApprovalError extends CaretakerError {
  readonly code = 'APPROVAL';
}

/** The rollout is not where the command applies, or cannot go on in this process. */
export class RolloutError extends CaretakerError {
  readonly code = 'ROLLOUT';
}

/** There is no such run (any more). */
export class NoRunError extends CaretakerError {
  readonly code = 'NOT_FOUND';
  constructor(runId: string) {
    super(`There is no run "${runId}". "caretaker runs" lists them.`);
  }
}
