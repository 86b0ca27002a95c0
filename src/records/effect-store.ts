/**
 * Whose the effects in an account are: the note, task or snapshot with this id belongs to that target of that
 * run. An effect that has an owner is never taken for the effect of another run's lost request.
 *
 * Kept by the day on which the owner was written, for as long as a request may be looked for.
 */

import { isoTime } from '../clock.ts';
import { defineScript } from '../redis/script.ts';
import type { Store } from '../redis/store.ts';
import { keys } from './keys.ts';

/** An effect by the operation that brought it about and the id of what it made. */
export interface Effect {
  operation: string;
  id: string;
}

/** The target that an effect belongs to. */
export interface EffectOwner {
  run: string;
  target: string;
}

const DAY_MS = 86_400_000;
/** A lost request is looked for within its target's time limit, hardly ever longer than this. */
const MAX_DAYS = 8;
export const EFFECTS_KEPT_MS = (MAX_DAYS + 2) * DAY_MS;

export const effectField = ({ operation, id }: Effect): string => `${operation}\n${id}`;
const ownerField = ({ run, target }: EffectOwner): string => `${run}\n${target}`;

/** The key that effects found out about `at` are written under. */
export const effectsKey = (account: string, at: number): string =>
  keys.effects(account, isoTime(at).slice(0, 10));

/**
 * `days`: the effects of today, then of the days before; `how`: claim or look. Gives 1 when the effect is the
 * owner's, 0 when it has another owner. Of an effect without an owner, `claim` makes this its owner and gives
 * 1, `look` gives 2.
 */
const ownEffect = defineScript(
  { keys: [], keyList: 'days', args: ['owner', 'ttl', 'how', 'effect'] },
  `
for _, day in ipairs(days) do
  local owner = redis.call('HGET', day, args.effect)
  if owner then return owner == args.owner and 1 or 0 end
end
if args.how == 'look' then return 2 end
redis.call('HSET', days[1], args.effect, args.owner)
redis.call('PEXPIRE', days[1], args.ttl)
return 1`,
);

export class EffectStore {
  constructor(private readonly store: Store) {}

  /**
   * Makes an effect the target's, unless it has another owner: then false. `since`: when the request was
   * intended that may have brought it about; what was owned before that by more than a day can not be it.
   */
  async claim(
    account: string,
    effect: Effect,
    owner: EffectOwner,
    at: number,
    since: number,
  ): Promise<boolean> {
    return (await this.own('claim', account, effect, owner, at, since)) === 1;
  }

  /** Whether an effect has an owner other than this target. */
  async belongsToOther(
    account: string,
    effect: Effect,
    owner: EffectOwner,
    at: number,
    since: number,
  ): Promise<boolean> {
    return (await this.own('look', account, effect, owner, at, since)) === 0;
  }

  private async own(
    how: 'claim' | 'look',
    account: string,
    effect: Effect,
    owner: EffectOwner,
    at: number,
    since: number,
  ): Promise<number> {
    const back = Math.ceil((at - since) / DAY_MS) + 2;
    const days = Array.from({ length: Math.min(Math.max(back, 2), MAX_DAYS) + 1 }, (_, day) =>
      effectsKey(account, at - day * DAY_MS),
    );
    const args = { owner: ownerField(owner), ttl: EFFECTS_KEPT_MS, how, effect: effectField(effect) };
    return Number(await ownEffect(this.store, { keys: {}, keyList: days, args }));
  }
}
