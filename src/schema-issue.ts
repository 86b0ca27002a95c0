/** Where a value differs from its schema and how, in words: for answers, requests and queries alike. */
import type { z } from 'zod';
import { countOf } from './text.ts';

type Issue = z.core.$ZodIssue;

/** The place, as a person writes it: `sites[3].sync.in_progress`. Empty for the value as a whole. */
export const writePath = (path: readonly PropertyKey[]): string =>
  path.reduce<string>((written, key) => {
    if (typeof key === 'number') return `${written}[${key}]`;
    return written === '' ? String(key) : `${written}.${String(key)}`;
  }, '');

/**
 * What is wrong there, as the rest of a sentence that begins with the place: `is missing`, `is not a string`.
 * Never repeats the value, which may be a secret.
 */
export function sayIssue(issue: Issue, whole: unknown): string {
  if (issue.code === 'custom') return issue.message;
  if (valueAt(whole, issue.path) === undefined) return 'is missing';
  if (issue.code === 'invalid_type') return `is not a ${issue.expected}`;
  if (issue.code === 'invalid_value') return `is not one of ${issue.values.map(String).join(', ')}`;
  // What is ours says it better than the kind of check; zod's own sentences begin with a capital.
  if (/^[a-z]/.test(issue.message)) return issue.message;
  if (issue.code === 'too_small') return `must ${sized('at least', issue.origin, issue.minimum)}`;
  if (issue.code === 'too_big') return `must ${sized('at most', issue.origin, issue.maximum)}`;
  return issue.code === 'invalid_format' ? `is not a ${issue.format}` : 'has an unsupported format';
}

const sized = (bound: string, origin: string, limit: number | bigint): string => {
  if (origin === 'string') return `have ${bound} ${countOf(Number(limit), 'character')}`;
  return origin === 'array'
    ? `have ${bound} ${limit} ${Number(limit) === 1 ? 'entry' : 'entries'}`
    : `be ${bound} ${limit}`;
};

function valueAt(value: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>((at, key) => (isHolder(at) ? Reflect.get(at, key) : undefined), value);
}

/** Whether a value has other values under names or numbers. */
export const isHolder = (value: unknown): value is object => typeof value === 'object' && value !== null;

/**
 * Where keys `__proto__` stand in a value. zod leaves them out of maps from names to values without a word,
 * and nothing that somebody wrote may be dropped.
 */
export function protoKeysIn(value: unknown, path: readonly (string | number)[] = []): (string | number)[][] {
  if (!isHolder(value)) return [];
  return Object.entries(value).flatMap(([key, inner]) => {
    const at = [...path, Array.isArray(value) ? Number(key) : key];
    return key === '__proto__' ? [at] : protoKeysIn(inner, at);
  });
}
