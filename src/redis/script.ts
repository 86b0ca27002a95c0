import { createHash } from 'node:crypto';
import type { Cluster, Redis } from 'ioredis';

/** The digest of each script, limited by the number of scripts in the code. */
const digests = new Map<string, string>();

function digestOf(script: string): string {
  const known = digests.get(script);
  if (known !== undefined) return known;
  const digest = createHash('sha1').update(script).digest('hex');
  digests.set(script, digest);
  return digest;
}

/** Which scripts were sent with their text over a connection. */
const sent = new WeakMap<Redis | Cluster, Set<string>>();

/**
 * Runs a Lua script. Atomic: nothing else happens in Redis meanwhile.
 *
 * The text of a script is sent once over each connection, and again to a Redis that has lost it. Otherwise
 * only its digest is sent, since sending the text each time costs more than most scripts do. Calls take
 * effect in the order in which they are made, including the first ones and those before a connection is
 * closed.
 */
export async function runScript(
  redis: Redis | Cluster,
  script: string,
  keys: readonly string[],
  args: readonly (string | number)[],
): Promise<unknown> {
  const known = sent.get(redis) ?? new Set();
  sent.set(redis, known);
  if (!known.has(script)) {
    known.add(script);
    return redis.eval(script, keys.length, ...keys, ...args);
  }
  try {
    return await redis.evalsha(digestOf(script), keys.length, ...keys, ...args);
  } catch (error) {
    if (!(error instanceof Error && error.message.startsWith('NOSCRIPT'))) throw error;
    return redis.eval(script, keys.length, ...keys, ...args);
  }
}
