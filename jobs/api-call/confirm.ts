/** `confirm`: the name of a destructive operation again. */
import { isOperationId, whyDestructive } from '../../src/contract/operations.ts';
import type { OptionFault } from '../../src/job/job.ts';

/** Everything that is wrong with `confirm` for an operation. */
export function confirmFaults(operation: string, confirm: string | undefined): OptionFault[] {
  if (!isOperationId(operation) || confirm === operation) return [];
  if (confirm !== undefined) {
    const message = `"confirm" is "${confirm}", but the operation is ${operation}.`;
    return [{ path: ['confirm'], message, form: true }];
  }
  const lost = whyDestructive(operation);
  if (lost === undefined) return [];
  const message = `${operation} is destructive: ${lost}`;
  const suggestion = `if this is intended, add confirm: ${operation}`;
  return [{ path: ['operation'], message, suggestion, missing: ['confirm'], form: true }];
}
