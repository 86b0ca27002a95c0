/**
 * Fields that the service did not show. Absent is not empty, not zero and not "no": what a decision rests on
 * must have been shown, in a list or in the single view. So a decision asks for its facts with `shown`, and
 * ends where one is absent.
 */
import type { FieldTree } from '../expression/fields.ts';
import { NotShownError } from '../expression/not-shown.ts';

/**
 * The value of a field on which a decision rests; `null` is a value.
 *
 * @throws {NotShownError} when it is absent: then the single view is asked, or nothing is decided.
 */
export function shown<T>(value: T | undefined, field: string): T {
  if (value === undefined) throw new NotShownError(field);
  return value;
}

/**
 * An item of a list, completed from its single view: what the list shows stays, and nothing is added that no
 * list has.
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
