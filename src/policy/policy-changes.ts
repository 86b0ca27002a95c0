/** The difference between the active policies before and after the files were read again. */
import type { Policy } from './policy.ts';

export interface PolicyChanges {
  added: string[];
  changed: string[];
  removed: string[];
}

/** Names of policies; one that only moved to another file has not changed. */
export function changesBetween(before: readonly Policy[], after: readonly Policy[]): PolicyChanges {
  const hashes = new Map(before.map(({ name, hash }) => [name, hash]));
  const names = new Set(after.map(({ name }) => name));
  return {
    added: after.filter(({ name }) => !hashes.has(name)).map(({ name }) => name),
    changed: after
      .filter(({ name, hash }) => hashes.has(name) && hashes.get(name) !== hash)
      .map(({ name }) => name),
    removed: before.filter(({ name }) => !names.has(name)).map(({ name }) => name),
  };
}

/** The maximum number of names in a sentence; the others are counted. */
const MAX_NAMED = 20;

/** `added a, b; removed c`, or that nothing changed. */
export function formatNames(changes: PolicyChanges): string {
  const parts = (['added', 'changed', 'removed'] as const)
    .filter((what) => changes[what].length > 0)
    .map((what) => {
      const names = changes[what];
      const more = names.length > MAX_NAMED ? ` and ${names.length - MAX_NAMED} more` : '';
      return `${what} ${names.slice(0, MAX_NAMED).join(', ')}${more}`;
    });
  return parts.join('; ') || 'none changed';
}
