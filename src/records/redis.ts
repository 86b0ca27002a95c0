import type { Cluster, Redis } from 'ioredis';

/** What records are kept in. */
export type Store = Redis | Cluster;

type Value = string | number;

/** Runs a Lua script: its keys first, then its arguments. Atomic: nothing else happens in Redis meanwhile. */
export const runScript = (
  store: Store,
  script: string,
  keyNames: readonly string[],
  args: readonly Value[],
): Promise<unknown> => store.eval(script, keyNames.length, ...keyNames, ...args);
