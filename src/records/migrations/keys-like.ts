import type { Cluster, Redis } from 'ioredis';
import type { Store } from '../../redis/store.ts';

/** All keys that match a pattern, in pages of about 1,000; of every master where the store is a Cluster. */
export async function* keysLike(store: Store, pattern: string): AsyncGenerator<string> {
  const nodes = store.isCluster ? (store as Cluster).nodes('master') : [store as Redis];
  for (const node of nodes)
    for await (const page of node.scanStream({ match: pattern, count: 1_000 })) yield* page as string[];
}
