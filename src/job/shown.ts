/**
 * Fields that the service did not show. An absent field is not empty, zero or false. A decision may only use
 * values that a list or the single view has shown. So a decision reads them with `shown`, which throws when a
 * field is absent.
 */
import { type FieldTree, NotShownError } from '../expression/fields.ts';

/**
 * The value of a field that a decision needs; `null` is a value.
 *
 * @throws {NotShownError} when it is absent. Then the single view is requested, or the candidate is skipped.
 */
export function shown<T>(value: T | undefined, field: string): T {
  if (value === undefined) throw new NotShownError(field);
  return value;
}

/**
 * Completes an item of a list from its single view. Values of the list stay, and only fields that the list
 * can have are added.
 */
export function completed(fields: FieldTree, item: unknown, single: unknown): Record<string, unknown> {
  const [listed, alone] = [namesIn(item), namesIn(single)];
  const added = Object.entries(fields).flatMap(([name, field]): [string, unknown][] => {
    if (alone[name] === undefined || listed[name] === null) return [];
    const isObject = field.kind === 'object' && typeof alone[name] === 'object' && alone[name] !== null;
    if (isObject) return [[name, completed(field.fields, listed[name], alone[name])]];
    return listed[name] === undefined ? [[name, alone[name]]] : [];
  });
  return { ...listed, ...Object.fromEntries(added) };
}

const namesIn = (value: unknown): Record<string, unknown> =>
  typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};

// Compares timestamps of the service with each other. The service may show the same time with milliseconds in
// one answer and without them in the next, so timestamps are compared by the second.

/** Seconds since 1970. */
export const secondsOf = (timestamp: string): number => Math.floor(Date.parse(timestamp) / 1_000);
