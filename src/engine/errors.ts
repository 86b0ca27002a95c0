import { CaretakerError, messageOf } from '../errors.ts';

/** A part of what was asked for was done before it was refused: the message says which. */
export class PartlyDoneError extends CaretakerError {
  readonly code = 'PARTLY_DONE';
  constructor(done: string, cause: unknown) {
    super(`${done}; the rest was not done. ${messageOf(cause)}`, { cause });
  }
}
