import { isPermitted, type Principal, type Role } from '../access/principal.ts';
import { CaretakerError } from '../errors.ts';
import type { ActSubject } from './command.ts';

/** The principal has no role that permits the act. Nothing was done. */
export class ForbiddenError extends CaretakerError {
  readonly code = 'FORBIDDEN';
  /** Whether the principal may see the subject at all. */
  readonly isVisible: boolean;
  constructor(principal: Principal, command: string, role: Role, subject: ActSubject) {
    const { policy, account } = subject;
    const of =
      policy !== undefined
        ? `the policy ${policy}`
        : account === undefined
          ? 'all policies'
          : `the account ${account}`;
    super(`${principal.name} may not do this (${command}): it needs the role ${role} for ${of}.`);
    this.isVisible = (policy ?? account) === undefined || isPermitted(principal, 'viewer', subject);
  }
}

/** The input of a command has another form than its schema. */
export class InvalidRequestError extends CaretakerError {
  readonly code = 'INVALID_REQUEST';
}

/** The body of a request is not JSON by its header. */
export class MediaTypeError extends CaretakerError {
  readonly code = 'UNSUPPORTED_MEDIA_TYPE';
}

/** There is no such policy, freeze, or other thing. */
export class NotFoundError extends CaretakerError {
  readonly code = 'NOT_FOUND';
}

/** The announcement cannot be cancelled now. */
export class AnnouncementError extends CaretakerError {
  readonly code = 'ANNOUNCEMENT';
}

/** No process would do the work. */
export class NoWorkerError extends CaretakerError {
  readonly code = 'NO_WORKER';
}

/** The idempotency key was used for another request. */
export class KeyReusedError extends CaretakerError {
  readonly code = 'KEY_REUSED';
  constructor() {
    super('This idempotency key was used for another request within the last 24 hours. Use a new key.');
  }
}

/** Another request with the idempotency key is still being carried out. */
export class KeyBusyError extends CaretakerError {
  readonly code = 'KEY_BUSY';
  constructor() {
    super('A request with this idempotency key is being carried out. Repeat the request in a few seconds.');
  }
}

/**
 * Codes by which a command refuses an act that the present state, the input or the settings do not allow. Nothing was
 * done then. Any other error is a failure.
 */
const refusals: ReadonlySet<string> = new Set([
  ...['FORBIDDEN', 'INVALID_REQUEST', 'NOT_FOUND', 'NO_WORKER', 'ACCOUNT_NOT_SET_UP', 'ACCOUNT_MOVED'],
  ...[
    'RUN',
    'APPROVAL',
    'ANNOUNCEMENT',
    'TOO_MANY_ACKNOWLEDGED',
    'ROLLOUT',
    'FROZEN',
    'BACKFILL',
    'SAVED_PLAN',
    'ALREADY_APPLIED',
  ],
]);

/** Whether the error means that a command has refused to act. */
export const isRefusal = (error: unknown): boolean =>
  error instanceof CaretakerError && refusals.has(error.code);
