import { ConflictError, GoneError, RejectedError, UnreadableError } from '../client/errors.ts';

/** What the service said when it did not do what was asked. */
export interface Problem {
  code?: string;
  message: string;
}

/**
 * The answers a job may know better than the engine: a conflict (409), a rejection (400, 422), and that
 * something is gone (404), which need not be the target; and that a change was made, though its answer cannot
 * be used (`made`). Every other error is the engine's to answer; a job throws it on.
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
