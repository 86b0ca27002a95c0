/**
 * Keys that ensure that no two targets of any runs do the same thing. The first target that claims a key
 * holds it. Another target takes it over when it finds that nothing came of it.
 *
 * The service's lists may be late, fields may be missing and answers lost. These keys do not depend on the
 * service.
 */
import { z } from 'zod';
import { defined } from '../defined.ts';
import { defineScript } from '../redis/script.ts';
import type { Store } from '../redis/store.ts';
import { keys } from './keys.ts';
import { checkRecord } from './parse-record.ts';

// The target that something belongs to: an effect in the account, or a key that only one target may hold.

export interface Owner {
  run: string;
  target: string;
  /** The step of the policy that the target was at, from 0; missing for the first. */
  step?: number;
}

/** An owner as it is stored. */
export const ownerText = ({ run, target, step = 0 }: Owner): string =>
  [run, target, ...(step === 0 ? [] : [step])].join('\n');

/** The fields of an owner that `ownerText` wrote. */
export function ownerFields(text: unknown): Partial<Owner> {
  const [run, target, step] = typeof text === 'string' ? text.split('\n') : [];
  return {
    ...defined({ run, target }),
    ...(step === undefined ? {} : { step: Number(step) }),
  };
}

/** Who holds a key, since when, and the result, if known. */
const KeyHolder = z.object({
  run: z.string(),
  target: z.string(),
  step: z.exactOptional(z.number()),
  at: z.number(),
  result: z.exactOptional(z.string()),
});
export type KeyHolder = z.output<typeof KeyHolder>;

const KEPT_MS = 100 * 86_400_000;
/** How many keys are read at once. */
const PAGE = 500;

/**
 * `instead`: the owner that the key may be taken over from, or '', and the `result` that it has then, or ''. Returns the
 * owner after that, since when, and the result.
 */
const claimKey = defineScript(
  { keys: ['key'], args: ['owner', 'now', 'ttl', 'instead', 'result'] },
  `
local owner = redis.call('HGET', keys.key, 'owner')
if not owner or owner == args.instead then
  redis.call('DEL', keys.key)
  redis.call('HSET', keys.key, 'owner', args.owner)
  if args.result ~= '' then redis.call('HSET', keys.key, 'result', args.result) end
  owner = args.owner
end
if owner == args.owner then redis.call('HSET', keys.key, 'at', args.now) end
-- Asking for a key keeps it: it is forgotten only when no run has asked for this long.
redis.call('PEXPIRE', keys.key, args.ttl)
return redis.call('HMGET', keys.key, 'owner', 'at', 'result')`,
);

/** Returns the owner, since when, and the result. */
const readKey = defineScript(
  { keys: ['key'], args: ['ttl'] },
  `
redis.call('PEXPIRE', keys.key, args.ttl)
return redis.call('HMGET', keys.key, 'owner', 'at', 'result')`,
);

const noteResult = defineScript(
  { keys: ['key'], args: ['owner', 'result'] },
  `
if redis.call('HGET', keys.key, 'owner') == args.owner then redis.call('HSET', keys.key, 'result', args.result) end
return 1`,
);

const replaceResult = defineScript(
  { keys: ['key'], args: ['before', 'after'] },
  `
if redis.call('HGET', keys.key, 'result') ~= args.before then return 0 end
redis.call('HSET', keys.key, 'result', args.after)
return 1`,
);

/** The holder in the fields `owner`, `at` and `result`. */
function holderOf([owner, at, result]: readonly unknown[], key: string): KeyHolder {
  const known = { ...ownerFields(owner), at: Number(at), ...(result === null ? {} : { result }) };
  return checkRecord(KeyHolder, known, key);
}

export class OnceStore {
  constructor(private readonly store: Store) {}

  /**
   * Claims a key for the target, unless another target than `instead` holds it; a new holder has this `result`. Returns
   * the holder after that.
   */
  async claim(
    account: string,
    key: string,
    owner: Owner,
    now: number,
    instead?: Owner,
    result = '',
  ): Promise<KeyHolder> {
    const name = keys.once(account, key);
    const before = instead ? ownerText(instead) : '';
    const claimed = await claimKey(this.store, {
      keys: { key: name },
      args: { owner: ownerText(owner), now, ttl: KEPT_MS, instead: before, result },
    });
    return holderOf(claimed as unknown[], name);
  }

  /** The holder of a key, which is kept longer by that; undefined when there is none. */
  async holder(account: string, key: string): Promise<KeyHolder | undefined> {
    const name = keys.once(account, key);
    const read = await readKey(this.store, { keys: { key: name }, args: { ttl: KEPT_MS } });
    const fields = read as unknown[];
    return fields[0] === null ? undefined : holderOf(fields, name);
  }

  /** Records the result, if the target still holds the key. */
  async note(account: string, key: string, owner: Owner, result: string): Promise<void> {
    await noteResult(this.store, {
      keys: { key: keys.once(account, key) },
      args: { owner: ownerText(owner), result },
    });
  }

  /** Replaces a result, no matter who holds the key. False when it is no longer the one `before`. */
  async replace(account: string, key: string, before: string, after: string): Promise<boolean> {
    const replaced = await replaceResult(this.store, {
      keys: { key: keys.once(account, key) },
      args: { before, after },
    });
    return replaced === 1;
  }

  /** The result of each of these keys, which are kept longer by that; undefined without a holder or a result. */
  async results(account: string, names: readonly string[]): Promise<(string | undefined)[]> {
    const found: (string | undefined)[] = [];
    for (let from = 0; from < names.length; from += PAGE) {
      const page = names.slice(from, from + PAGE).map(async (key) => {
        const name = keys.once(account, key);
        const [result] = await Promise.all([
          this.store.hget(name, 'result'),
          this.store.pexpire(name, KEPT_MS),
        ]);
        return result;
      });
      for (const result of await Promise.all(page)) found.push(result ?? undefined);
    }
    return found;
  }
}
