import type { QueryFault } from '../contract/list.ts';
import type { OperationId } from '../contract/operations.ts';
import { CaretakerError } from '../errors.ts';
import { suggestionFor } from '../suggest.ts';

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
