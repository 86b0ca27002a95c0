/** Chance that can be repeated: the same seed gives the same numbers in the same order, on every machine. */
export interface Random {
  /** From 0 up to, but not including, 1. */
  next(): number;
  /** A whole number from `low` to `high`, both included. */
  between(low: number, high: number): number;
  /** One of the choices, each as likely as the others. */
  pick<T>(choices: readonly [T, ...T[]]): T;
  /** A new array with the same items in another order. */
  shuffle<T>(items: readonly T[]): T[];
}

/** Mulberry32: 32 bits of state, good enough for a made-up fleet, and short enough to be read. */
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

/** A seed made of a word, so that each site has a chance of its own whatever came before it (FNV-1a). */
export function seedOf(seed: number, word: string): number {
  let hash = (0x811c9dc5 ^ seed) >>> 0;
  for (let at = 0; at < word.length; at += 1) {
    hash = Math.imul(hash ^ word.charCodeAt(at), 0x01000193) >>> 0;
  }
  return hash;
}
