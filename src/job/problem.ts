import { ConflictError, GoneError, RejectedError, UnreadableError } from '../client/errors.ts';

/** The service's message when it refused a request. */
export interface Problem {
  code?: string;
  message: string;
}

/**
 * The errors that a job may handle itself: a conflict (409), a rejection (400, 422), something that is gone
 * (404), which need not be the target, and a change that was made although its answer cannot be read
 * (`made`). A job throws every other error again, and the engine handles it.
 */
export function problemWith(error: unknown): {
  conflict?: Problem;
  rejected?: Problem;
  gone?: Problem;
  made?: true;
} {
  if (error instanceof ConflictError) return { conflict: error.problem };
  if (error instanceof RejectedError) return { rejected: error.problem };
  if (error instanceof GoneError) return { gone: error.problem };
  if (error instanceof UnreadableError) return { made: true };
  return {};
}
