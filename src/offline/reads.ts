/**
 * Where an account's items come from when no service is asked: an inventory file, the items of a policy test,
 * or a recording in progress.
 */
import type { ListId, OperationId } from '../contract/operations.ts';
import { CaretakerError } from '../errors.ts';

/** The path parameters of an operation, and the other input of one that is no list. */
export type Params = Readonly<Record<string, unknown>>;

/** Answers of read operations. Errors of the service are thrown as the client throws them. */
export interface Reads {
  /**
   * Every item of a list, without filters, in the order of creation.
   *
   * @throws {NotHeldError}
   */
  items(list: ListId, params: Params): Promise<readonly object[]>;
  /**
   * The answer of any other operation that reads.
   *
   * @throws {NotHeldError}
   */
  view(operation: OperationId, params: Params): Promise<unknown>;
}

/** Something is read that the inventory or the test does not hold. It is never taken for empty. */
export class NotHeldError extends CaretakerError {
  readonly code = 'NOT_IN_INVENTORY';
}

/** The same for the same operation and parameters, whatever their order. */
export const readKey = (operation: OperationId, params: Params): string =>
  JSON.stringify([operation, ...Object.entries(params).sort(([a], [b]) => (a < b ? -1 : 1))]);

/** A read as a person knows it: `listSiteNotes (site_id site-1)`. */
export function describeRead(operation: OperationId, params: Params): string {
  const given = Object.entries(params).map(([name, value]) => `${name} ${String(value)}`);
  return given.length === 0 ? operation : `${operation} (${given.join(', ')})`;
}
