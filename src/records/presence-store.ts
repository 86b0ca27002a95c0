import { z } from 'zod';
import { defineScript } from '../redis/script.ts';
import type { Store } from '../redis/store.ts';
import { keys } from './keys.ts';
import { checkRecord, parseRecord } from './parse-record.ts';

/** A policy whose file is broken now, and whose last valid version a daemon keeps active. */
const KeptPolicy = z.object({
  name: z.string(),
  /** The active version: a `Policy`, which this room does not know. */
  policy: z.unknown(),
  /** The file that is broken now. */
  file: z.string(),
  /** When the active version was first read, and since when the file is broken. */
  readAt: z.number(),
  brokenSince: z.number(),
  /** The first error of the file, after line and column: `3:5: "croon" is not a known key.` */
  error: z.string(),
});
export type KeptPolicy = z.output<typeof KeptPolicy>;

/** How a process is. */
const Vitals = z.object({
  /** Of Caretaker, and of Node. */
  version: z.string(),
  node: z.string(),
  /** Its whole memory, and what its objects take. */
  memoryBytes: z.number(),
  heapBytes: z.number(),
  /** How late 9 of 10 timers of the last minute were at most, and the latest one. */
  lagMs: z.number(),
  maxLagMs: z.number(),
});
export type Vitals = z.output<typeof Vitals>;

/** A process that runs on this Redis. */
const Presence = z.object({
  id: z.string(),
  pid: z.number(),
  host: z.string(),
  /** What tells the process from a later one with the same pid on its host: see `redis/embedded/processes.ts`. */
  identity: z.exactOptional(z.string()),
  roles: z.array(z.string()),
  startedAt: z.number(),
  seenAt: z.number(),
  /** The port of the dashboard, when it serves one. */
  dashboardPort: z.exactOptional(z.number()),
  /** The policies of broken files that it keeps active; at most `MAX_KEPT` are shown. */
  keeps: z.exactOptional(z.array(KeptPolicy)),
  /** A digest of all policies that it has read. Processes with the same digest have the same policies. */
  policies: z.exactOptional(z.string()),
  vitals: z.exactOptional(Vitals),
});
export type Presence = z.output<typeof Presence>;

/** A policy as a process has read it: the hash of what it does, and when its file was changed. */
const PolicyRead = z.object({ hash: z.string(), changedAt: z.number() });
export type PolicyRead = z.output<typeof PolicyRead>;

/** The fields that a process of every release has. */
const AnyPresence = z.looseObject({ seenAt: z.number() });

/** Bounds the size of a value in Redis. */
const MAX_KEPT = 200;

/** A process counts as gone when it has not been seen for this time. */
const GONE_AFTER_MS = 15_000;
/** The policies that a process has read expire this long after they were last shown. */
const POLICIES_KEPT_MS = 60_000;

/**
 * A field that cannot be a policy's name. It marks that a process has shown its policies, even if it has
 * none.
 */
const SHOWN_MARK = '';

/** `fields`: name and version of each policy in turn. */
const setPolicies = defineScript(
  { keys: ['policies'], args: ['ttl'], argList: 'fields' },
  `
redis.call('DEL', keys.policies)
for first = 1, #fields, 1000 do
  redis.call('HSET', keys.policies, unpack(fields, first, math.min(first + 999, #fields)))
end
redis.call('PEXPIRE', keys.policies, args.ttl)
return 1`,
);

/** Replaces a presence, unless its process has announced another one or left. */
const replacePresence = defineScript(
  { keys: ['presence'], args: ['id', 'read', 'replaced'] },
  `
if redis.call('HGET', keys.presence, args.id) ~= args.read then return 0 end
redis.call('HSET', keys.presence, args.id, args.replaced)
return 1`,
);

export class PresenceStore {
  constructor(private readonly store: Store) {}

  async announce(presence: Presence): Promise<void> {
    const { keeps, ...others } = presence;
    const bounded = keeps && keeps.length > 0 ? { ...others, keeps: keeps.slice(0, MAX_KEPT) } : others;
    await this.store.hset(keys.presence, presence.id, JSON.stringify(bounded));
  }

  async withdraw(id: string): Promise<void> {
    await this.store.hdel(keys.presence, id);
    await this.store.unlink(keys.policiesRead(id), keys.policyContents(id));
  }

  /** Shows which policies a process has read, and each of them as JSON. */
  async showPolicies(
    id: string,
    policies: ReadonlyMap<string, PolicyRead>,
    contents: ReadonlyMap<string, string>,
  ): Promise<void> {
    await setPolicies(this.store, {
      keys: { policies: keys.policyContents(id) },
      args: { ttl: POLICIES_KEPT_MS },
      argList: [...contents].flat(),
    });
    const fields = [...policies].flatMap(([name, read]) => [name, JSON.stringify(read)]);
    await setPolicies(this.store, {
      keys: { policies: keys.policiesRead(id) },
      args: { ttl: POLICIES_KEPT_MS },
      argList: [SHOWN_MARK, '1', ...fields],
    });
  }

  /** Renews the shown policies. False when they are not there (any more). */
  async keepPolicies(id: string): Promise<boolean> {
    await this.store.pexpire(keys.policyContents(id), POLICIES_KEPT_MS);
    return (await this.store.pexpire(keys.policiesRead(id), POLICIES_KEPT_MS)) === 1;
  }

  /** The policies that a process has read; undefined when that is not known. */
  async policiesOf(id: string): Promise<Map<string, PolicyRead> | undefined> {
    const { [SHOWN_MARK]: shown, ...read } = await this.store.hgetall(keys.policiesRead(id));
    if (shown === undefined) return undefined;
    const key = keys.policiesRead(id);
    return new Map(Object.entries(read).map(([name, json]) => [name, parseRecord(PolicyRead, json, key)]));
  }

  /** The policies that a process has read, as it reads them. */
  async policyContents(id: string): Promise<Map<string, unknown>> {
    const contents = await this.store.hgetall(keys.policyContents(id));
    return new Map(Object.entries(contents).map(([name, json]) => [name, JSON.parse(json)]));
  }

  /**
   * The ids of the running processes of any release. Other releases may store the other fields in another
   * form.
   */
  async ids(now: number): Promise<string[]> {
    return [...(await this.seen(now))].flatMap(([id, { seenAt }]) =>
      now - seenAt <= GONE_AFTER_MS ? [id] : [],
    );
  }

  /** The running processes. Removes those that are gone. */
  async running(now: number): Promise<Presence[]> {
    const all = [...(await this.seen(now)).values()].map((one) => checkRecord(Presence, one, keys.presence));
    const gone = all.filter(({ seenAt }) => now - seenAt > GONE_AFTER_MS);
    if (gone.length > 0) await this.store.hdel(keys.presence, ...gone.map(({ id }) => id));
    return all.filter(({ seenAt }) => now - seenAt <= GONE_AFTER_MS);
  }

  /** What the processes of any release have announced, by id. One of before the clock went back counts as seen now. */
  private async seen(now: number): Promise<Map<string, z.output<typeof AnyPresence>>> {
    const all = Object.entries(await this.store.hgetall(keys.presence));
    const read = all.map(async ([id, json]) => {
      const one = parseRecord(AnyPresence, json, keys.presence);
      if (one.seenAt - now <= GONE_AFTER_MS) return [id, one] as const;
      const replaced = { ...one, seenAt: now };
      await replacePresence(this.store, {
        keys: { presence: keys.presence },
        args: { id, read: json, replaced: JSON.stringify(replaced) },
      });
      return [id, replaced] as const;
    });
    return new Map(await Promise.all(read));
  }

  /** Lets whoever has the key of this hash sign in to a dashboard of any process, once and for a time. */
  async offerSignIn(hash: string, ttlMs: number): Promise<void> {
    await this.store.set(keys.signIn(hash), '1', 'PX', ttlMs);
  }

  /** Whether a key of this hash was offered. It is not afterwards. */
  async takeSignIn(hash: string): Promise<boolean> {
    return (await this.store.del(keys.signIn(hash))) === 1;
  }
}
