import type { QueryFault } from '../contract/list.ts';
import type { OperationId } from '../contract/operations.ts';
import { CaretakerError } from '../errors.ts';
import { suggestionFor } from '../suggest.ts';

/**
 * A request against the contract: a mistake in a policy, a command or a job, told before anything is sent.
 */
export class InvalidInputError extends CaretakerError {
  readonly code = 'INVALID_INPUT';
  constructor(
    readonly operation: OperationId,
    readonly faults: readonly QueryFault[],
  ) {
    super(
      `${operation}: ${faults
        .map(sayFault)
        .join('; ')
        .replace(/[.?]?$/, (end) => end || '.')}`,
    );
  }
}

/**
 * A fault with its place and, where a name or value is not among the allowed ones, what was probably meant.
 */
function sayFault({ path, message, allowed = [] }: QueryFault): string {
  const gap = /^(is|takes|must)\b/.test(message) ? ' ' : ': ';
  const told = path.length > 0 ? `${path.join('.')}${gap}${message}` : message;
  const wrong = [...message.matchAll(/"([^"]*)"/g)].at(-1)?.[1] ?? path.at(-1) ?? '';
  const hint = suggestionFor(wrong, allowed);
  return hint ? `${told}, ${hint}` : told;
}
