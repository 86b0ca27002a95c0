/** Everything there is in the account, as the sandbox keeps it. Moments are milliseconds of the service's time. */
import type { Agenda } from './agenda.ts';
import type { Client } from './clients.ts';
import type { Site } from './site.ts';
import type { Tag } from './tags.ts';
import type { Task } from './tasks.ts';

export interface World {
  readonly seed: number;
  /** When the service began; the fleet's past is counted back from here. */
  readonly startedAt: number;
  /** All collections are in order of creation, which is the order of items that a sort leaves equal. */
  readonly sites: Map<string, Site>;
  readonly clients: Map<string, Client>;
  readonly tags: Map<string, Tag>;
  readonly tasks: Map<string, Task>;
  readonly agenda: Agenda;
  /** The highest number given to an item of each kind; numbers are never given twice. */
  readonly numbers: { site: number; client: number; tag: number; task: number };
}

/** A number for a new item that no other of its kind has or had. */
export function nextNumber(world: World, kind: keyof World['numbers']): number {
  world.numbers[kind] += 1;
  return world.numbers[kind];
}

/** An id as this service writes them: `site-0042`. Callers must not read anything into it. */
export const idOf = (kind: string, number: number): string => `${kind}-${String(number).padStart(4, '0')}`;
