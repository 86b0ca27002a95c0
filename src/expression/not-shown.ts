import { CaretakerError } from '../errors.ts';

/** A decision needs a field that the service did not show. */
export class NotShownError extends CaretakerError {
  readonly code = 'NOT_SHOWN';

  constructor(
    /** The field as it is written in conditions: `site.sync.paused`. */
    readonly field: string,
  ) {
    super(`The service does not show ${field}.`);
  }
}

/** What the function returns, or that a field was not shown. */
export function orNotShown<T>(decide: () => T): T | NotShownError {
  try {
    return decide();
  } catch (error) {
    if (error instanceof NotShownError) return error;
    throw error;
  }
}
