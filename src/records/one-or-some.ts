/** A filter with one value or several: what has any of them is meant; nothing means everything. */
export type OneOrSome<T> = T | readonly T[] | undefined;

export const isAnyOf = <T>(wanted: OneOrSome<T>, holds: (one: T) => boolean): boolean =>
  wanted === undefined || ([wanted].flat() as T[]).some(holds);
