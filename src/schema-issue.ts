/** Describes where and how a value differs from its schema, for answers, requests and queries. */
import type { z } from 'zod';
import { countOf } from './text.ts';

type Issue = z.core.$ZodIssue;

/**
 * Whether the JSON Schema of a value refuses it as well. A custom check compares values, unless it declares
 * `params: { form: true }`.
 */
export const isOfForm = (issue: Issue): boolean => issue.code !== 'custom' || issue.params?.['form'] === true;

/** The path as text: `sites[3].sync.in_progress`. Empty for the value as a whole. */
export const writePath = (path: readonly PropertyKey[]): string =>
  path.reduce<string>((written, key) => {
    if (typeof key === 'number') return `${written}[${key}]`;
    return written === '' ? String(key) : `${written}.${String(key)}`;
  }, '');

/**
 * The problem as the rest of a sentence that begins with the path: `is missing`, `is not a string`. Never
 * contains the value, which may be a secret.
 */
export function sayIssue(issue: Issue, whole: unknown): string {
  if (issue.code === 'custom') return issue.message;
  if (valueAt(whole, issue.path) === undefined) return 'is missing';
  if (issue.code === 'invalid_type') return `is not a ${issue.expected}`;
  if (issue.code === 'invalid_value') return `is not one of ${issue.values.map(String).join(', ')}`;
  // Our own messages are more specific than the issue code. zod's begin with a capital letter.
  if (/^[a-z]/.test(issue.message)) return issue.message;
  if (issue.code === 'too_small') return `must ${sized('at least', issue.origin, issue.minimum)}`;
  if (issue.code === 'too_big') return `must ${sized('at most', issue.origin, issue.maximum)}`;
  if (issue.code === 'invalid_format') return formats[issue.format] ?? `is not a ${issue.format}`;
  return 'has an unsupported format';
}

const formats: Readonly<Record<string, string>> = {
  date: 'is not a day such as 2026-12-20',
  datetime: 'is not a time such as 2026-11-21T02:00:00Z',
};

const sized = (bound: string, origin: string, limit: number | bigint): string => {
  if (origin === 'string') return `have ${bound} ${countOf(Number(limit), 'character')}`;
  return origin === 'array'
    ? `have ${bound} ${limit} ${Number(limit) === 1 ? 'entry' : 'entries'}`
    : `be ${bound} ${limit}`;
};

function valueAt(value: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>((at, key) => (isHolder(at) ? Reflect.get(at, key) : undefined), value);
}

/** Whether a value is an object or an array. */
export const isHolder = (value: unknown): value is object => typeof value === 'object' && value !== null;

/**
 * The paths of all keys `__proto__` in a value. zod silently drops them from records, and no input may be
 * dropped silently.
 */
export function protoKeysIn(value: unknown, path: readonly (string | number)[] = []): (string | number)[][] {
  if (!isHolder(value)) return [];
  return Object.entries(value).flatMap(([key, inner]) => {
    const at = [...path, Array.isArray(value) ? Number(key) : key];
    return key === '__proto__' ? [at] : protoKeysIn(inner, at);
  });
}
