import { createHash } from 'node:crypto';
import type { Cluster, Redis } from 'ioredis';

/** What records are kept in. */
export type Store = Redis | Cluster;

type Value = string | number;

/** Digests by script. There are as many as scripts in the code. */
const digests = new Map<string, string>();

function digestOf(script: string): string {
  const known = digests.get(script);
  if (known !== undefined) return known;
  const digest = createHash('sha1').update(script).digest('hex');
  digests.set(script, digest);
  return digest;
}

/**
 * Runs a Lua script: its keys first, then its arguments. Atomic: nothing else happens in Redis meanwhile.
 *
 * Only the script's digest is sent; the text, once to each Redis that does not know it yet: to send it each time costs more
 * than most scripts do.
 */
export async function runScript(
  store: Store,
  script: string,
  keyNames: readonly string[],
  args: readonly Value[],
): Promise<unknown> {
  try {
    return await store.evalsha(digestOf(script), keyNames.length, ...keyNames, ...args);
  } catch (error) {
    if (!(error instanceof Error && error.message.startsWith('NOSCRIPT'))) throw error;
    return store.eval(script, keyNames.length, ...keyNames, ...args);
  }
}

/**
 * A record as JSON that Redis's own JSON library can read again: half of a surrogate pair, as a message that was cut in
 * the middle of an emoji ends with, would make every later script on the record fail.
 */
export const toJson = (record: object): string =>
  JSON.stringify(record).replace(/\\(?:u(d[89a-f][0-9a-f]{2})|.)/g, (escaped, half: string | undefined) =>
    half === undefined ? escaped : '\\ufffd',
  );

/** What the fields of a run begin with that count its requests by operation. */
export const OPERATION = 'requests:';

/** For the head of a script: `count_requests(run key, requests by operation as JSON)`. */
export const COUNT_REQUESTS = `
local function count_requests(run, spent)
  for operation, count in pairs(cjson.decode(spent)) do
    redis.call('HINCRBY', run, 'requests', count)
    redis.call('HINCRBY', run, '${OPERATION}' .. operation, count)
  end
end`;
