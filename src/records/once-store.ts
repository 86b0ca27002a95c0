/**
 * What no two targets may do, whichever run they are of: each thing goes by a key, and the first to claim the
 * key holds it, until somebody finds out that nothing came of it and takes it over.
 *
 * An account's lists may be late, its fields hidden and its answers lost: this is what we know by ourselves.
 */
import { z } from 'zod';
import { defineScript } from '../redis/script.ts';
import type { Store } from '../redis/store.ts';
import { keys } from './keys.ts';
import { checkRecord } from './parse-record.ts';

/** Who holds a key, since when, and what came of it, as far as that is known. */
const KeyHolder = z.object({
  run: z.string(),
  target: z.string(),
  at: z.number(),
  result: z.exactOptional(z.string()),
});
export type KeyHolder = z.output<typeof KeyHolder>;

const KEPT_MS = 100 * 86_400_000;
/** Keys that are asked for at once. */
const PAGE = 500;

/**
 * `instead`: the owner that the key may be taken over from, or ''. Gives the owner that the key then has, since
 * when, and the result.
 */
const claimKey = defineScript(
  { keys: ['key'], args: ['owner', 'now', 'ttl', 'instead'] },
  `
local owner = redis.call('HGET', keys.key, 'owner')
if not owner or owner == args.instead then
  redis.call('DEL', keys.key)
  redis.call('HSET', keys.key, 'owner', args.owner)
  owner = args.owner
end
if owner == args.owner then
  redis.call('HSET', keys.key, 'at', args.now)
  redis.call('PEXPIRE', keys.key, args.ttl)
end
return redis.call('HMGET', keys.key, 'owner', 'at', 'result')`,
);

const noteResult = defineScript(
  { keys: ['key'], args: ['owner', 'result'] },
  `
if redis.call('HGET', keys.key, 'owner') == args.owner then redis.call('HSET', keys.key, 'result', args.result) end
return 1`,
);

type Owner = Pick<KeyHolder, 'run' | 'target'>;

const ownerField = ({ run, target }: Owner): string => `${run}\n${target}`;

/** The holder in the fields `owner`, `at` and `result`. */
function holderOf([owner, at, result]: readonly unknown[], key: string): KeyHolder {
  const [run, target] = typeof owner === 'string' ? owner.split('\n') : [];
  const known = { run, target, at: Number(at), ...(result === null ? {} : { result }) };
  return checkRecord(KeyHolder, known, key);
}

export class OnceStore {
  constructor(private readonly store: Store) {}

  /** Makes a key the target's, unless another holds it that is not `instead`. Gives who holds it then. */
  async claim(account: string, key: string, owner: Owner, now: number, instead?: Owner): Promise<KeyHolder> {
    const name = keys.once(account, key);
    const claimed = await claimKey(this.store, {
      keys: { key: name },
      args: { owner: ownerField(owner), now, ttl: KEPT_MS, instead: instead ? ownerField(instead) : '' },
    });
    return holderOf(claimed as unknown[], name);
  }

  /** Who holds a key; nothing when nobody does. */
  async holder(account: string, key: string): Promise<KeyHolder | undefined> {
    const name = keys.once(account, key);
    const fields = await this.store.hmget(name, 'owner', 'at', 'result');
    return fields[0] === null ? undefined : holderOf(fields, name);
  }

  /** Writes down what came of it, where the target still holds the key. */
  async note(account: string, key: string, owner: Owner, result: string): Promise<void> {
    await noteResult(this.store, {
      keys: { key: keys.once(account, key) },
      args: { owner: ownerField(owner), result },
    });
  }

  /** What came of each of these keys; nothing for one that nobody holds or that has come to nothing yet. */
  async results(account: string, names: readonly string[]): Promise<(string | undefined)[]> {
    const found: (string | undefined)[] = [];
    for (let from = 0; from < names.length; from += PAGE) {
      const page = names
        .slice(from, from + PAGE)
        .map((key) => this.store.hget(keys.once(account, key), 'result'));
      for (const result of await Promise.all(page)) found.push(result ?? undefined);
    }
    return found;
  }
}
