import { isoEnd, isoMinute } from '../clock.ts';
import { keyPrefixOf, type Store, toJson } from '../redis/store.ts';
import type { CaretakerEvent } from './events.ts';
import {
  concerns,
  type FreezeSubject,
  formatScope,
  isOfTargets,
  type RecurringFreeze,
  ruleField,
  type ScopedFreeze,
  scopedField,
  scopedIn,
} from './freeze-scope.ts';
import { keys } from './keys.ts';
import { addEndedPause, type Pause, type Pauses, pauseAt, pausesOf, replacePause } from './policy-store.ts';

/** Who froze what, when and why, and when the freeze ends by itself. Without a scope: everything. */
export type Freeze = Pause & { until: number } & Partial<Pick<ScopedFreeze, 'id' | 'scope' | 'rule'>>;

const FREEZE = { hash: keys.freeze };

const FREEZE_AND_NOTICES = { ...FREEZE, notices: keys.notices };

/** Freezes of a part that are over are remembered so long, for scheduled times that are decided later. */
const KEPT_MS = 90 * 86_400_000;

/**
 * Freezes: while one is active, no policy starts a run, or no policy of an account or job; or targets of a
 * client or tag are skipped. There is at most one freeze of everything, stored in the form of a policy's
 * pause, and any number of freezes of parts.
 */
export class FreezeStore {
  constructor(private readonly store: Store) {}

  /** The freeze of everything that is active at `now`. */
  async at(now: number): Promise<Freeze | undefined> {
    return freezeAt({ freezes: pausesOf(await this.store.hgetall(keys.freeze), keys.freeze) }, now);
  }

  /** The freezes of parts that are active at `now`, oldest first. */
  async scoped(now: number): Promise<ScopedFreeze[]> {
    return (await this.parts()).filter(({ at, until }) => at <= now && until > now);
  }

  /** All freezes of parts: also those that are over, and those that have not begun (`schedule/maintenance.ts`). */
  async parts(): Promise<ScopedFreeze[]> {
    return scopedIn(await this.store.hgetall(keys.freeze), keys.freeze);
  }

  /** What people freeze again and again, oldest first; without its occurrences. */
  async rules(): Promise<RecurringFreeze[]> {
    const hash = await this.store.hgetall(keys.freeze);
    return scopedIn(hash, keys.freeze, ruleField('')) as RecurringFreeze[];
  }

  /** Adds one. `schedule/maintenance.ts` records its occurrences. */
  async addRule(freeze: RecurringFreeze): Promise<void> {
    await this.store.hset(keys.freeze, ruleField(freeze.id), toJson(freeze));
  }

  /** Ends one with all its occurrences; gives it, or nothing when there is none with this id. */
  async endRule(id: string, at: number): Promise<ScopedFreeze | undefined> {
    const found = (await this.rules()).find((one) => one.id === id);
    if (!found) return undefined;
    await this.store.hdel(keys.freeze, ruleField(id));
    for (const one of await this.parts()) if (one.rule?.id === id && one.until > at) await this.drop(one, at);
    return { ...found, until: at };
  }

  /** A freeze of a part that is not over, or what recurs. */
  async named(id: string, now: number): Promise<ScopedFreeze | undefined> {
    const all = [...(await this.parts()).filter(({ until }) => until > now), ...(await this.rules())];
    return all.find((one) => one.id === id);
  }

  /** Takes back a freeze of a part from `now` on. What it froze until then stays frozen, under another id. */
  async drop(freeze: ScopedFreeze, now: number): Promise<void> {
    await this.store.hdel(keys.freeze, scopedField(freeze.id));
    if (freeze.at < now) await this.add({ ...freeze, id: `${freeze.id}/${now}`, until: now });
    else await this.publish(now);
  }

  /** All freezes that are active at `now`: that of everything first. */
  async active(now: number): Promise<Freeze[]> {
    const hash = await this.store.hgetall(keys.freeze);
    const whole = freezeAt({ freezes: pausesOf(hash, keys.freeze) }, now);
    const parts = scopedIn(hash, keys.freeze).filter(({ at, until }) => at <= now && until > now);
    return [...(whole ? [whole] : []), ...parts];
  }

  /** The freeze that keeps this policy from starting runs at `now`. */
  async over(policy: FreezeSubject, now: number): Promise<Freeze | undefined> {
    return (await this.active(now)).find(
      ({ scope }) => scope === undefined || (!isOfTargets(scope) && concerns(scope, policy)),
    );
  }

  /** The freezes of clients and tags that hold for targets of this policy at `now`. */
  async ofTargets(policy: FreezeSubject, now: number): Promise<ScopedFreeze[]> {
    const active = await this.scoped(now);
    return active.filter(({ scope }) => isOfTargets(scope) && concerns(scope, policy));
  }

  /** Freezes everything. Replaces an active freeze of everything, which is kept as ended. */
  async begin(freeze: Freeze): Promise<void> {
    await replacePause(this.store, {
      keys: FREEZE_AND_NOTICES,
      args: { now: freeze.at, next: toJson(freeze), notice: '' },
    });
    await this.publish(freeze.at);
  }

  /** The id of a freeze that will be added. */
  async nextId(): Promise<string> {
    return String(await this.store.hincrby(keys.freeze, 'number', 1));
  }

  /** Freezes a part, beside all other freezes. Gives it the next number as its id, unless it has one. */
  async add(given: Omit<ScopedFreeze, 'id'> & { id?: string }): Promise<ScopedFreeze> {
    const freeze = { ...given, id: given.id ?? (await this.nextId()) };
    const over = (await this.parts()).filter(({ until }) => until < freeze.at - KEPT_MS);
    if (over.length > 0) await this.store.hdel(keys.freeze, ...over.map(({ id }) => scopedField(id)));
    await this.put([freeze], freeze.at);
    return freeze;
  }

  /** Records freezes of parts with ids, in place of those with the same ids. */
  async put(freezes: readonly ScopedFreeze[], at: number): Promise<void> {
    if (freezes.length === 0) return;
    await this.store.hset(keys.freeze, ...freezes.flatMap((one) => [scopedField(one.id), toJson(one)]));
    await this.publish(at);
  }

  /** Ends a freeze of a part before its time, or before it begins; gives it as it was, or nothing when it is over. */
  async lift(id: string, at: number): Promise<ScopedFreeze | undefined> {
    const found = (await this.parts()).find((one) => one.id === id && one.until > Math.max(at, one.at));
    if (!found) return undefined;
    const ended = { ...found, until: Math.max(at, found.at) };
    await this.store.hset(keys.freeze, scopedField(id), toJson(ended));
    await this.publish(at);
    return found;
  }

  /** Records a freeze that has already ended: runs that were due during it are skipped, as in any freeze. */
  async note(freeze: Freeze): Promise<void> {
    await addEndedPause(this.store, { keys: FREEZE, args: { pause: toJson(freeze) } });
    await this.publish(freeze.until);
  }

  /** Ends a freeze of everything before its time. */
  async end(at: number): Promise<void> {
    await replacePause(this.store, { keys: FREEZE_AND_NOTICES, args: { now: at, next: '', notice: '' } });
    await this.publish(at);
  }

  private async publish(at: number): Promise<void> {
    const event: CaretakerEvent = { type: 'freeze.changed', at };
    await this.store.publish(keyPrefixOf(this.store) + keys.events, JSON.stringify(event));
  }
}

/** The freeze over a policy that is active at `now`, from its state; of several, the one that ends last. */
export function freezeAt({ freezes }: { freezes?: Pauses }, now: number): Freeze | undefined {
  const whole = pauseAt(freezes, now);
  const active = [
    ...(whole ? [{ ...whole, until: whole.until ?? Number.POSITIVE_INFINITY }] : []),
    ...(freezes?.pauses ?? []).filter(({ at, until }) => at <= now && now < until),
  ];
  return active.sort((a, b) => b.until - a.until)[0];
}

/** What is frozen: `everything`, or `the account default`. */
export const formatFrozen = ({ scope }: Freeze): string =>
  scope === undefined ? 'everything' : formatScope(scope);

/** Formats a freeze for all messages: `frozen by anna from ... until ... (the sale)`. */
export const formatFreeze = ({ by, at, until, reason }: Freeze): string =>
  `frozen by ${by} from ${isoMinute(at)} until ${isoEnd(until)}${reason === undefined ? '' : ` (${reason})`}`;

/** What a freeze prevents: `no run starts`. */
export const effectOf = ({ scope }: Freeze): string => {
  if (scope === undefined) return 'no run starts';
  return isOfTargets(scope) ? 'new runs skip its targets' : 'no run of it starts';
};

/** The command that ends a freeze early. */
export const unfreezeCommand = ({ id }: Freeze): string =>
  id === undefined ? 'caretaker freeze end' : `caretaker freeze end ${id}`;
