/** The errors for answers that are not a success, one class for each meaning (docs/reliability.md). */

import type { QueryFault } from '../contract/list.ts';
import type { OperationId } from '../contract/operations.ts';
import { CaretakerError } from '../errors.ts';
import { suggestionFor } from '../suggest.ts';

/** 400 and 422: the service refuses the request. Sending it again gives the same answer. */
export class RejectedError extends CaretakerError {
  readonly code = 'REJECTED';
  constructor(
    readonly operation: OperationId,
    readonly status: number,
    /** The service's own error code, if there is one. */
    readonly problem: { code?: string; message: string },
  ) {
    super(`${operation} was rejected (HTTP ${status}): ${problem.message}`);
  }
}

/** 401 and 403: the account refuses access. Every run of the account waits. */
export class AccountRefusedError extends CaretakerError {
  readonly code = 'ACCOUNT_REFUSED';
  constructor(
    readonly account: string,
    readonly status: 401 | 403,
    /** What the body of the answer says, if it says something. */
    readonly problem?: { code?: string; message: string },
  ) {
    super(
      status === 401
        ? `The account "${account}" refuses our token (HTTP 401): check its token.`
        : `The account "${account}" is inactive (HTTP 403): it must be activated at the service.`,
    );
  }
}

/** 404: the requested item does not exist, or no longer exists. */
export class GoneError extends CaretakerError {
  readonly code = 'GONE';
  constructor(
    readonly operation: OperationId,
    readonly problem: { code?: string; message: string } = { message: 'It does not exist.' },
  ) {
    super(`${operation}: the account has no such item (HTTP 404).`);
  }
}

/** 409: another change, perhaps the same work, is in progress. */
export class ConflictError extends CaretakerError {
  readonly code = 'CONFLICT';
  constructor(
    readonly operation: OperationId,
    readonly problem: { code?: string; message: string },
  ) {
    super(`${operation}: another change is in progress (HTTP 409): ${problem.message}`);
  }
}

/**
 * 5xx, redirects, timeouts, broken connections and unreadable bodies: the service gave no usable answer.
 *
 * `sent` is false only when the request certainly never left this machine. Otherwise a change may have
 * happened.
 */
export class UnavailableError extends CaretakerError {
  readonly code: 'UNAVAILABLE' | 'NOT_THE_SERVICE' | 'REDIRECTED' = 'UNAVAILABLE';
  constructor(
    readonly operation: OperationId,
    readonly sent: boolean,
    why: string,
    options?: ErrorOptions & { status?: number; problem?: { code?: string; message: string } },
  ) {
    super(`${operation}: the service gave no usable answer: ${why}.`, options);
    this.status = options?.status;
    this.problem = options?.problem;
  }
  readonly status: number | undefined;
  /** What the body of an error answer says. */
  readonly problem: { code?: string; message: string } | undefined;
}

/**
 * What answers at the base URL is not the service: another web server, another version, another protocol.
 *
 * For runs this is an outage like any other, which ends when the base URL is corrected. Retrying immediately
 * does not help.
 */
export class NotTheServiceError extends UnavailableError {
  override readonly code = 'NOT_THE_SERVICE';
  constructor(
    operation: OperationId,
    where: { account: string; baseUrl: string },
    sent: boolean,
    /** What was received instead, as a clause: `it answered listSites with HTTP 404`. */
    why: string,
    options?: ErrorOptions & { status?: number },
  ) {
    super(operation, sent, why, options);
    this.message = `${where.baseUrl} does not look like the Site Management Service API (${why}); check accounts.${where.account}.base_url.`;
  }
}

/**
 * A redirect that is not followed: of a change, or to another origin, where the token must not be sent. It
 * may be temporary, as with a proxy that restarts. If it persists, the base URL has to be changed.
 */
export class RedirectedError extends UnavailableError {
  override readonly code = 'REDIRECTED';
  constructor(
    operation: OperationId,
    where: { account: string; baseUrl: string },
    /** The other origin, if the redirect leads to one. */
    to: string | undefined,
    { status }: { status: number },
  ) {
    super(operation, true, 'it redirects', { status });
    const redirect = `a redirect${to === undefined ? '' : ` to ${to}`} (HTTP ${status})`;
    this.message = `${where.baseUrl} answers ${operation} with ${redirect}, which is not followed; if it persists, check accounts.${where.account}.base_url.`;
  }
}

/**
 * The service reports that a change was made (2xx), but the rest of its answer cannot be used. The change was
 * carried out; its result is unknown.
 */
export class UnreadableError extends UnavailableError {
  constructor(operation: OperationId, status: number, cause: Error) {
    super(operation, true, 'its answer cannot be read', { status, cause });
    this.message = cause.message;
  }
}

/**
 * A process that was suspended must not send a late request: another process may be working on the same
 * target by then.
 */
export class LateError extends Error {
  override readonly message = 'this process was suspended, and did not send the request late';
}

/**
 * A request that does not match the contract: an error in a policy, a command or a job, found before anything
 * is sent.
 */
export class InvalidInputError extends CaretakerError {
  readonly code = 'INVALID_INPUT';
  constructor(
    readonly operation: OperationId,
    readonly faults: readonly QueryFault[],
  ) {
    super(
      `${operation}: ${faults
        .map(describeFault)
        .join('; ')
        .replace(/[.?]?$/, (end) => end || '.')}`,
    );
  }
}

/** Formats a fault with its place and, for a name or value that is not allowed, a suggestion. */
function describeFault({ path, message, allowed = [] }: QueryFault): string {
  const gap = /^(is|takes|must)\b/.test(message) ? ' ' : ': ';
  const text = path.length > 0 ? `${path.join('.')}${gap}${message}` : message;
  const wrong = [...message.matchAll(/"([^"]*)"/g)].at(-1)?.[1] ?? path.at(-1) ?? '';
  const hint = suggestionFor(wrong, allowed);
  return hint ? `${text}, ${hint}` : text;
}
