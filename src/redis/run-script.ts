/** Sends Lua scripts to Redis: the text of each once over each connection. */
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
 * Runs a Lua script with its keys and arguments by position (`KEYS`, `ARGV`); others are made with
 * `defineScript`.
 *
 * The text is sent once over each connection, and again to a Redis that does not know it (NOSCRIPT). All
 * other calls send its digest, because sending the text costs more than most scripts do. Calls therefore take
 * effect in the order in which they are made, the first ones included, and before a connection that is closed
 * right after.
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
