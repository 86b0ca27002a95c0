import type { Cluster, Redis } from 'ioredis';

/** The Redis connection that records are stored through. */
export type Store = Redis | Cluster;

/**
 * What the client puts before every key, to separate environments in one Redis. It does not see patterns of keys, keys in
 * answers, and channels: there, the caller adds or removes it.
 */
export const keyPrefixOf = ({ options }: Store): string => options.keyPrefix ?? '';

/**
 * A record as JSON that Redis's own JSON library can read. A message that was cut in the middle of an emoji
 * ends with half of a surrogate pair, which would make every later script on the record fail.
 */
export const toJson = (record: object): string =>
  JSON.stringify(record).replace(/\\(?:u(d[89a-f][0-9a-f]{2})|.)/g, (escaped, half: string | undefined) =>
    half === undefined ? escaped : '\\ufffd',
  );

/** The prefix of the fields of a run that count its requests by operation. */
export const OPERATION = 'requests:';

/**
 * For the head of a script: `count_requests(run key, requests by operation as JSON)`. Only for a run that exists: the
 * hash of another would come back without an index and never be deleted.
 */
export const COUNT_REQUESTS = `
local function count_requests(run, spent)
  for operation, count in pairs(cjson.decode(spent)) do
    redis.call('HINCRBY', run, 'requests', count)
    redis.call('HINCRBY', run, '${OPERATION}' .. operation, count)
  end
end`;

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
