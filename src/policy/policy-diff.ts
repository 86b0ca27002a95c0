/** What differs between two versions of a policy, in the keys of its file. */
import { isDeepStrictEqual } from 'node:util';
import type { Registry } from '../job/registry.ts';
import { asWritten } from './as-written.ts';
import type { Policy } from './policy.ts';

/** A key with another value. Undefined: the version does not have the key. */
export interface KeyChange {
  /** `limits.concurrency`; a list is compared as a whole. */
  key: string;
  before: unknown;
  after: unknown;
}

/**
 * The keys whose values differ, in the order of the file, with removed keys at the end. Defaults are filled in on
 * both sides, so that writing a default down is no change.
 */
export function keyChanges(before: Policy, after: Policy, registry: Registry): KeyChange[] {
  return valueChanges(asWritten(before, registry), asWritten(after, registry));
}

/** The same of two definitions, as they would be written with every default. */
export function valueChanges(before: Record<string, unknown>, after: Record<string, unknown>): KeyChange[] {
  const [old, now] = [flattened(before), flattened(after)];
  return [...new Set([...now.keys(), ...old.keys()])].flatMap((key) => {
    const change = { key, before: old.get(key), after: now.get(key) };
    return isDeepStrictEqual(change.before, change.after) ? [] : [change];
  });
}

/** The values by their paths. An empty map is a value. */
function flattened(value: Record<string, unknown>, path = ''): Map<string, unknown> {
  const found = new Map<string, unknown>();
  for (const [name, inner] of Object.entries(value)) {
    const key = path === '' ? name : `${path}.${name}`;
    const isMap = typeof inner === 'object' && inner !== null && !Array.isArray(inner);
    if (!isMap || Object.keys(inner).length === 0) found.set(key, inner);
    else for (const [at, one] of flattened(inner as Record<string, unknown>, key)) found.set(at, one);
  }
  return found;
}

// The difference between the active policies before and after the files were read again.

interface PolicyChanges {
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
