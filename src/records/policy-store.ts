import { z } from 'zod';
import { defineScript } from '../redis/script.ts';
import { keyPrefixOf, type Store, toJson } from '../redis/store.ts';
import type { CaretakerEvent } from './events.ts';
import { concerns, type FreezeScope, type FreezeSubject, isOfTargets, scopedIn } from './freeze-scope.ts';
import { keys } from './keys.ts';
import { ADD_NOTICE, type Notice, noticeText } from './notice-store.ts';
import { checkRecord, parseRecord } from './parse-record.ts';

/** Who paused a policy, when and why. */
const Pause = z.object({
  at: z.number(),
  by: z.string(),
  reason: z.exactOptional(z.string()),
  /** When it ends by itself; without it, `caretaker policies resume` ends it. */
  until: z.exactOptional(z.number()),
});
export type Pause = z.output<typeof Pause>;

/** A pause that is over. */
const EndedPause = Pause.extend({ until: z.number() });

/** The pause that is active at `now`; one whose `until` has passed is over, though it is still stored. */
export const pauseAt = (state: Pauses | undefined, now: number): Pause | undefined =>
  state?.pause && (state.pause.until ?? Number.POSITIVE_INFINITY) > now ? state.pause : undefined;

/**
 * The stored pause, which may have passed its `until`, and the latest ones that are over, each with its end as
 * `until`.
 */
export interface Pauses {
  pause?: Pause;
  /** Oldest first. Freezes of a part of the work are here, too, also those that are still active. */
  pauses?: (z.output<typeof EndedPause> & { scope?: FreezeScope })[];
}

/** What is stored of a policy in addition to its file. It survives restarts and edits. */
export interface PolicyState extends Pauses {
  /** The freezes that hold for the whole policy. */
  freezes?: Pauses;
  /** All scheduled times up to here have been decided. */
  cursor?: number;
  /** The crons and time zone whose times the cursor counts, and since when. */
  cursorSchedule?: string;
  since?: number;
  /** Times from here on still have to get a run of their own (`catchup: { mode: all }`). */
  owedFrom?: number;
  /** How many runs in a row have failed. */
  failures: number;
}

/**
 * Ends the pause in a hash and keeps it among the ten latest. `next`: the pause that follows, or ''. Times that
 * fell into an ended pause count as skipped by it, also when no process looked before it was over.
 */
export const replacePause = defineScript(
  { keys: ['hash', 'notices'], args: ['now', 'next', 'notice'] },
  `${ADD_NOTICE}
local text = redis.call('HGET', keys.hash, 'pause')
if text then
  local pause, now = cjson.decode(text), tonumber(args.now)
  pause['until'] = math.min(pause['until'] or now, now)
  local ended = cjson.decode(redis.call('HGET', keys.hash, 'pauses') or '[]')
  table.insert(ended, pause)
  while #ended > 10 do table.remove(ended, 1) end
  redis.call('HSET', keys.hash, 'pauses', cjson.encode(ended))
  redis.call('HDEL', keys.hash, 'pause')
end
if args.next ~= '' then redis.call('HSET', keys.hash, 'pause', args.next) end
add_notice(keys.notices, args.notice)
return text and 1 or 0`,
);

/** Adds a pause that has already ended. */
export const addEndedPause = defineScript(
  { keys: ['hash'], args: ['pause'] },
  `
local ended = cjson.decode(redis.call('HGET', keys.hash, 'pauses') or '[]')
table.insert(ended, cjson.decode(args.pause))
while #ended > 10 do table.remove(ended, 1) end
redis.call('HSET', keys.hash, 'pauses', cjson.encode(ended))
return 1`,
);

/** A policy, or its name. */
export type PolicyRef = string | FreezeSubject;

const nameOf = (policy: PolicyRef): string => (typeof policy === 'string' ? policy : policy.name);

export class PolicyStore {
  constructor(private readonly store: Store) {}

  /** The state of a policy; given by its name alone, without freezes of its account or job. */
  async state(policy: PolicyRef): Promise<PolicyState> {
    const [state = { failures: 0 }] = (await this.many([policy])).values();
    return state;
  }

  /**
   * The states of many policies by name, in one round trip. A policy that is given by its name alone has no
   * freezes of its account or job.
   */
  async many(policies: readonly PolicyRef[]): Promise<Map<string, PolicyState>> {
    const reads = this.store.pipeline().hgetall(keys.freeze);
    for (const policy of policies) reads.hgetall(keys.policy(nameOf(policy)));
    const answers = (await reads.exec()) ?? [];
    const hashes = answers.map(([error, hash]) => {
      if (error) throw error;
      return hash as Record<string, string>;
    });
    const ofAll = pausesOf(hashes[0] ?? {}, keys.freeze);
    const ofParts = scopedIn(hashes[0] ?? {}, keys.freeze);
    return new Map(
      policies.map((policy, index) => {
        const name = nameOf(policy);
        const state = fromHash(hashes[index + 1] ?? {}, keys.policy(name));
        const own = ofParts.filter(
          ({ scope }) => typeof policy === 'object' && !isOfTargets(scope) && concerns(scope, policy),
        );
        const freezes = own.length > 0 ? { ...ofAll, pauses: [...(ofAll.pauses ?? []), ...own] } : ofAll;
        return [name, { ...state, ...(freezes.pause || freezes.pauses ? { freezes } : {}) }];
      }),
    );
  }

  /** Pauses a policy, in place of a pause that it may have; that one is remembered as over. */
  async pause(name: string, pause: Pause, notice?: Notice): Promise<void> {
    await replacePause(this.store, {
      keys: { hash: keys.policy(name), notices: keys.notices },
      args: { now: pause.at, next: toJson(pause), notice: noticeText(notice) },
    });
    await this.tell(name, pause.at);
  }

  /** Ends a pause and forgets the failures that may have led to it. False when it was not paused. */
  async resume(name: string, at: number): Promise<boolean> {
    const ended = await replacePause(this.store, {
      keys: { hash: keys.policy(name), notices: keys.notices },
      args: { now: at, next: '', notice: '' },
    });
    await this.store.hdel(keys.policy(name), 'failures');
    await this.tell(name, at);
    return ended === 1;
  }

  /** Counts a failed run, or starts the count again; gives how many failed in a row. */
  async countFailure(name: string, failed: boolean): Promise<number> {
    if (failed) return this.store.hincrby(keys.policy(name), 'failures', 1);
    await this.store.hdel(keys.policy(name), 'failures');
    return 0;
  }

  private async tell(policy: string, at: number): Promise<void> {
    const event: CaretakerEvent = { type: 'policy.changed', policy, at };
    await this.store.publish(keyPrefixOf(this.store) + keys.events, JSON.stringify(event));
  }
}

/** The pauses in a hash: of a policy, or of everything. */
export const pausesOf = (hash: Record<string, string>, key: string): Pauses => ({
  ...(hash['pause'] ? { pause: parseRecord(Pause, hash['pause'], key) } : {}),
  ...(hash['pauses'] ? { pauses: parseRecord(z.array(EndedPause), hash['pauses'], key) } : {}),
});

const Fields = z.object({
  failures: z.coerce.number().default(0),
  cursor: z.exactOptional(z.coerce.number()),
  cursorSchedule: z.exactOptional(z.string()),
  since: z.exactOptional(z.coerce.number()),
  owedFrom: z.exactOptional(z.coerce.number()),
});

const fromHash = (hash: Record<string, string>, key: string): PolicyState => ({
  ...checkRecord(Fields, hash, key),
  ...pausesOf(hash, key),
});
