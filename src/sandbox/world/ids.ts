import type { World } from '../model/world.ts';

/** A new number for an item of this kind. Numbers are never reused. */
export function nextNumber(world: World, kind: keyof World['numbers']): number {
  world.numbers[kind] += 1;
  return world.numbers[kind];
}

/** An id in the service's format: `site-0042`. Callers must treat it as opaque. */
export const idOf = (kind: string, number: number): string => `${kind}-${String(number).padStart(4, '0')}`;
