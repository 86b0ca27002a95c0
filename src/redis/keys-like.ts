import type { Cluster, Redis } from 'ioredis';
import { keyPrefixOf, type Store } from './store.ts';

/**
 * All keys that match a pattern, in pages of about 1,000; of every master where the store is a Cluster. Without the
 * prefix of the environment, as commands take them.
 */
export async function* keysLike(store: Store, pattern: string): AsyncGenerator<string> {
  const prefix = keyPrefixOf(store);
  const nodes = store.isCluster ? (store as Cluster).nodes('master') : [store as Redis];
  for (const node of nodes)
    for await (const page of node.scanStream({ match: prefix + pattern, count: 1_000 }))
      for (const key of page as string[]) yield key.slice(prefix.length);
}
