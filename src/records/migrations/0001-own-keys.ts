/**
 * Version 1: the records have a version.
 *
 * Caretaker releases before it do not look for one. Three things that they cannot work without therefore get
 * new keys: the global freezes, which every firing asks for, the accounts with active runs, which every
 * supervisor asks for, and the queues, from which every worker takes its entries. A text is left in place of
 * the first two: Redis refuses to read it as a hash or a set (WRONGTYPE), so that an older process that is
 * started by mistake does nothing and logs why.
 */
import { runScript } from '../../redis/script.ts';
import { keysLike } from './keys-like.ts';
import type { Migration } from './migration.ts';

const PREFIX = '{caretaker}';
const REPLACED = 'These records belong to a newer version of Caretaker: upgrade this process.';

const moved = [
  [`${PREFIX}:freeze`, `${PREFIX}:freezes`],
  [`${PREFIX}:active`, `${PREFIX}:active-accounts`],
] as const;
const queues = ['plans', 'actions'] as const;

/** KEYS: old key, new key. ARGV: what is left in place of the old one, which tells that it was moved. */
const MOVE = `
local kind = redis.call('TYPE', KEYS[1]).ok
if kind == 'string' then return 0 end
if kind ~= 'none' then redis.call('RENAME', KEYS[1], KEYS[2]) end
redis.call('SET', KEYS[1], ARGV[1])
return 1`;

/** KEYS: old key, new key. */
const RENAME = `
if redis.call('EXISTS', KEYS[1]) == 1 then redis.call('RENAME', KEYS[1], KEYS[2]) end
return 1`;

export const ownKeys: Migration = {
  summary: 'older releases of Caretaker are kept out',
  async run({ store }) {
    for (const [from, to] of moved) await runScript(store, MOVE, [from, to], [REPLACED]);
    for (const queue of queues) {
      // Last, since it says whether there is anything to move: after an interruption, the rest is moved
      // first.
      const meta = `${PREFIX}:${queue}:meta`;
      if (!(await store.exists(meta))) continue;
      for await (const key of keysLike(store, `${PREFIX}:${queue}:*`))
        if (key !== meta) await runScript(store, RENAME, [key, renamed(key)], []);
      await runScript(store, RENAME, [meta, renamed(meta)], []);
    }
  },
};

const renamed = (key: string): string => key.replace(`${PREFIX}:`, `${PREFIX}:queue:`);
