import type { World } from '../model/world.ts';

/** A number for a new item that no other of its kind has or had. */
export function nextNumber(world: World, kind: keyof World['numbers']): number {
  world.numbers[kind] += 1;
  return world.numbers[kind];
}

/** An id as this service writes them: `site-0042`. Callers must not read anything into it. */
export const idOf = (kind: string, number: number): string => `${kind}-${String(number).padStart(4, '0')}`;
