/**
 * The account as it was some time ago, for lists that lag: a second world, to which all changes by callers
 * and tests are applied with a delay. What happens by itself happens in both.
 */

import type { World } from '../model/world.ts';
import { createAgenda } from './agenda.ts';
import { advance } from './settle.ts';

export interface Replica {
  /** Applies a change that was made at `at` to the replica too, after the lag. */
  repeat(at: number, act: (world: World) => unknown): void;
  /** The account at the time that the lists of `now` show, and that time. */
  behind(now: number): { world: World; now: number };
}

/** Starts with the current world. Costs as much memory as the world itself. */
export function openReplica(world: World, lagMs: number): Replica {
  const { agenda, ...rest } = world;
  const copy: World = { ...structuredClone(rest), agenda: createAgenda(structuredClone(agenda.entries())) };
  const pending: { at: number; act: (world: World) => unknown }[] = [];
  const catchUp = (until: number) => {
    for (let next = pending[0]; next && next.at <= until; next = pending[0]) {
      pending.shift();
      advance(copy, next.at);
      next.act(copy);
    }
    advance(copy, until);
  };
  return {
    repeat(at, act) {
      pending.push({ at, act });
      catchUp(at - lagMs);
    },
    behind(now) {
      catchUp(now - lagMs);
      return { world: copy, now: now - lagMs };
    },
  };
}
