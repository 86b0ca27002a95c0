/** Which ring a site is in: the first whose condition holds, else one by its share, else the ring for all others. */
import { createHash } from 'node:crypto';

export interface RingRule {
  name: string;
  /** Whether a site is in it by its condition; undefined for a ring by share. */
  holds?: ((site: { id: string }) => boolean) | undefined;
  /** The percentage of all sites that no condition takes; undefined: all others. */
  percent?: number | undefined;
}

/**
 * The sites of each ring, in its order, by id. The share depends on the id of a site alone, so a new site moves no
 * other one, and a larger share only adds sites. A site that no ring takes is in none.
 */
export function assign<S extends { id: string }>(rules: readonly RingRule[], sites: readonly S[]): S[][] {
  const rings: S[][] = rules.map(() => []);
  for (const site of [...sites].sort((a, b) => (a.id < b.id ? -1 : 1))) {
    const index = ringOf(rules, site);
    if (index !== -1) rings[index]?.push(site);
  }
  return rings;
}

function ringOf(rules: readonly RingRule[], site: { id: string }): number {
  const byCondition = rules.findIndex(({ holds }) => holds?.(site));
  if (byCondition !== -1) return byCondition;
  let until = 0;
  return rules.findIndex(({ holds, percent }) => {
    if (holds) return false;
    until += percent ?? 100;
    return placeOf(site.id) < until;
  });
}

/** A number from 0 to 100 that looks random, and is always the same for an id. */
export const placeOf = (id: string): number =>
  (createHash('sha256').update(id).digest().readUInt32BE(0) / 2 ** 32) * 100;
