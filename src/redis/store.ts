import type { Cluster, Redis } from 'ioredis';

/** What records are kept in. */
export type Store = Redis | Cluster;

/**
 * A record as JSON that Redis's own JSON library can read again: half of a surrogate pair, as a message that
 * was cut in the middle of an emoji ends with, would make every later script on the record fail.
 */
export const toJson = (record: object): string =>
  JSON.stringify(record).replace(/\\(?:u(d[89a-f][0-9a-f]{2})|.)/g, (escaped, half: string | undefined) =>
    half === undefined ? escaped : '\\ufffd',
  );

/** What the fields of a run begin with that count its requests by operation. */
export const OPERATION = 'requests:';

/**
 * For the head of a script: `count_requests(run key, requests by operation as JSON)`. Nothing of a run that
 * is no longer there is written: its hash would come back without an index, and stay for ever.
 */
export const COUNT_REQUESTS = `
local function count_requests(run, spent)
  if redis.call('EXISTS', run) == 0 then return end
  for operation, count in pairs(cjson.decode(spent)) do
    redis.call('HINCRBY', run, 'requests', count)
    redis.call('HINCRBY', run, '${OPERATION}' .. operation, count)
  end
end`;
