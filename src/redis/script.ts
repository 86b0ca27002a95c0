import { createHash } from 'node:crypto';
import type { Cluster, Redis } from 'ioredis';

/** By script, its digest. There are as many as scripts in the code. */
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
 * Runs a Lua script: its keys first, then its arguments. Atomic: nothing else happens in Redis meanwhile.
 *
 * Its text is sent once over each connection, and again to a Redis that has forgotten it; else only its
 * digest, since to send the text each time costs more than most scripts do. So calls take effect in the order
 * in which they are made, the first ones too, and before a connection that is then closed.
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
