/**
 * Stores which target owns an effect in an account: a note, task or snapshot, by its id. An effect with an
 * owner is never taken for the effect of another run's lost request.
 *
 * Stored by the day on which the owner was written, and kept for as long as a lost request may be looked for.
 */

import { isoTime } from '../clock.ts';
import { DAY_MS } from '../dates.ts';
import { defineScript } from '../redis/script.ts';
import type { Store } from '../redis/store.ts';
import { keys } from './keys.ts';
import { type Owner, ownerFields, ownerText } from './once-store.ts';

/** An effect: the operation, and the id of what it made. */
export interface Effect {
  operation: string;
  id: string;
}

/** A lost request is looked for within its target's time limit, hardly ever longer than this. */
const MAX_DAYS = 8;
export const EFFECTS_KEPT_MS = (MAX_DAYS + 2) * DAY_MS;

export const effectField = ({ operation, id }: Effect): string => `${operation}\n${id}`;

/** The key under which effects are written that became known at `at`. */
export const effectsKey = (account: string, at: number): string =>
  keys.effects(account, isoTime(at).slice(0, 10));

/**
 * `days`: the keys of today, of the days before, and of tomorrow; `how`: claim or check. Returns 1 when the effect
 * belongs to `owner`, and 0 when it has another owner. For an effect without an owner, `claim` makes `owner`
 * its owner and returns 1; `check` returns 2.
 */
const ownEffect = defineScript(
  { keys: [], keyList: 'days', args: ['owner', 'ttl', 'how', 'effect'] },
  `
for _, day in ipairs(days) do
  local owner = redis.call('HGET', day, args.effect)
  if owner then return owner == args.owner and 1 or 0 end
end
if args.how == 'check' then return 2 end
redis.call('HSET', days[1], args.effect, args.owner)
redis.call('PEXPIRE', days[1], args.ttl)
return 1`,
);

export class EffectStore {
  constructor(private readonly store: Store) {}

  /**
   * Makes the target the owner of an effect. False when it has another owner. `since`: when the intent of the
   * request was recorded; owners that were written more than a day before that are not searched.
   */
  async claim(account: string, effect: Effect, owner: Owner, at: number, since: number): Promise<boolean> {
    return (await this.own('claim', account, effect, owner, at, since)) === 1;
  }

  /** Whether an effect has an owner other than this target. */
  async belongsToOther(
    account: string,
    effect: Effect,
    owner: Owner,
    at: number,
    since: number,
  ): Promise<boolean> {
    return (await this.own('check', account, effect, owner, at, since)) === 0;
  }

  /**
   * The owners of effects with this id, whichever of these operations made them, the newest first: of those that are
   * still stored, about ten days. One command for each day, in one round trip.
   */
  async ownersOf(account: string, operations: readonly string[], id: string, at: number): Promise<Owner[]> {
    const reads = this.store.pipeline();
    const fields = operations.map((operation) => effectField({ operation, id }));
    for (let day = 0; day <= EFFECTS_KEPT_MS / DAY_MS; day += 1)
      reads.hmget(effectsKey(account, at - day * DAY_MS), ...fields);
    const answers = (await reads.exec()) ?? [];
    return answers.flatMap(([error, found]) => {
      if (error) throw error;
      return (found as (string | null)[]).flatMap((text) => {
        const { run, target } = ownerFields(text);
        return run === undefined || target === undefined ? [] : [{ run, target }];
      });
    });
  }

  private async own(
    how: 'claim' | 'check',
    account: string,
    effect: Effect,
    owner: Owner,
    at: number,
    since: number,
  ): Promise<number> {
    const daysBack = Math.ceil((at - since) / DAY_MS) + 2;
    const days = Array.from({ length: Math.min(Math.max(daysBack, 2), MAX_DAYS) + 1 }, (_, day) =>
      effectsKey(account, at - day * DAY_MS),
    );
    // The clock may have gone back over midnight.
    days.push(effectsKey(account, at + DAY_MS));
    const args = { owner: ownerText(owner), ttl: EFFECTS_KEPT_MS, how, effect: effectField(effect) };
    return Number(await ownEffect(this.store, { keys: {}, keyList: days, args }));
  }
}
