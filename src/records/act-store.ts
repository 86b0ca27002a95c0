/**
 * Acts with an idempotency key. The first request with a key begins the act; repetitions get its stored answer.
 * When the process that carried it out died, a repetition continues the same act: it has the same id, time and
 * decisions, so that a run that was created is found again instead of being created twice.
 */
import { z } from 'zod';
import { defineScript } from '../redis/script.ts';
import { type Store, toJson } from '../redis/store.ts';
import { keys } from './keys.ts';
import { checkRecord } from './parse-record.ts';

/** How long an answer is kept. */
const KEPT_MS = 86_400_000;
/** A process that has not stored an answer for this long is considered dead. */
const LEASE_MS = 30_000;

/** `request`: what identifies the request. Returns the state, and the act, its time and its answer. */
const claimAct = defineScript(
  { keys: ['act'], args: ['request', 'id', 'now', 'lease_end', 'kept'] },
  `
local known = redis.call('HMGET', keys.act, 'request', 'id', 'at', 'answer', 'lease_end')
if not known[1] then
  redis.call('HSET', keys.act, 'request', args.request, 'id', args.id, 'at', args.now, 'lease_end', args.lease_end)
  redis.call('PEXPIRE', keys.act, args.kept)
  return {'begun', args.id, args.now}
end
if known[1] ~= args.request then return {'other'} end
if known[4] then return {'answered', known[2], known[3], known[4]} end
if tonumber(known[5]) > tonumber(args.now) then return {'busy'} end
redis.call('HSET', keys.act, 'lease_end', args.lease_end)
return {'begun', known[2], known[3]}`,
);

/** Keeps the first value of a field. */
const keepFirst = defineScript(
  { keys: ['act'], args: ['field', 'value'] },
  `
if redis.call('EXISTS', keys.act) == 0 then return args.value end
redis.call('HSETNX', keys.act, args.field, args.value)
return redis.call('HGET', keys.act, args.field)`,
);

const releaseAct = defineScript(
  { keys: ['act'] },
  `
if redis.call('EXISTS', keys.act) == 1 then redis.call('HSET', keys.act, 'lease_end', 0) end
return 1`,
);

const Begun = z.object({ id: z.string(), at: z.coerce.number() });

export type ActClaim =
  /** The caller carries out the act. */
  | { is: 'begun'; id: string; at: number }
  | { is: 'answered'; answer: unknown }
  /** Another request is carrying it out. */
  | { is: 'busy' }
  /** The key belongs to another request. */
  | { is: 'other' };

export class ActStore {
  constructor(private readonly store: Store) {}

  /** `owner` names the principal: two of them may use the same key. `request` identifies what is asked. */
  async claim(owner: string, key: string, request: string, id: string, now: number): Promise<ActClaim> {
    const name = keys.act(owner, key);
    const [is, known, at, answer] = (await claimAct(this.store, {
      keys: { act: name },
      args: { request, id, now, lease_end: now + LEASE_MS, kept: KEPT_MS },
    })) as string[];
    if (is === 'answered') return { is, answer: JSON.parse(answer ?? 'null') };
    if (is === 'begun') return { is, ...checkRecord(Begun, { id: known, at }, name) };
    return { is: is === 'other' ? 'other' : 'busy' };
  }

  /** What was decided first under this name, by this process or an earlier one; else what `make` decides. */
  async decision(owner: string, key: string, name: string, make: () => Promise<object>): Promise<unknown> {
    const act = keys.act(owner, key);
    const field = `decision:${name}`;
    const earlier = await this.store.hget(act, field);
    if (earlier !== null) return JSON.parse(earlier);
    const kept = await keepFirst(this.store, { keys: { act }, args: { field, value: toJson(await make()) } });
    return JSON.parse(String(kept));
  }

  async answer(owner: string, key: string, answer: object): Promise<void> {
    await keepFirst(this.store, {
      keys: { act: keys.act(owner, key) },
      args: { field: 'answer', value: toJson(answer) },
    });
  }

  /** The act has failed: a repetition may continue it at once. */
  async release(owner: string, key: string): Promise<void> {
    await releaseAct(this.store, { keys: { act: keys.act(owner, key) } });
  }
}
