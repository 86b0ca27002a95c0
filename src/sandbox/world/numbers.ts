import type { World } from '../model/world.ts';

/** Reproducible random numbers: the same seed gives the same numbers in the same order, on every machine. */
export interface Random {
  /** From 0 to 1, excluding 1. */
  next(): number;
  /** A whole number from `low` to `high`, inclusive. */
  between(low: number, high: number): number;
  /** One of the choices, with equal probability. */
  pick<T>(choices: readonly [T, ...T[]]): T;
  /** A new array with the same items in another order. */
  shuffle<T>(items: readonly T[]): T[];
}

/** Mulberry32: 32 bits of state, good enough for test data, and short. */
export function randomFrom(seed: number): Random {
  let state = seed >>> 0;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const between = (low: number, high: number) => low + Math.floor(next() * (high - low + 1));
  return {
    next,
    between,
    pick: (choices) => choices[Math.floor(next() * choices.length)] ?? choices[0],
    shuffle: (items) =>
      items
        .map((item) => ({ item, at: next() }))
        .sort((left, right) => left.at - right.at)
        .map(({ item }) => item),
  };
}

/** Derives a seed from a word, so that each site has its own random numbers (FNV-1a). */
export function seedOf(seed: number, word: string): number {
  let hash = (0x811c9dc5 ^ seed) >>> 0;
  for (let at = 0; at < word.length; at += 1) {
    hash = Math.imul(hash ^ word.charCodeAt(at), 0x01000193) >>> 0;
  }
  return hash;
}

/** A new number for an item of this kind. Numbers are never reused. */
export function nextNumber(world: World, kind: keyof World['numbers']): number {
  world.numbers[kind] += 1;
  return world.numbers[kind];
}

/** An id in the service's format: `site-0042`. Callers must treat it as opaque. */
export const idOf = (kind: string, number: number): string => `${kind}-${String(number).padStart(4, '0')}`;
