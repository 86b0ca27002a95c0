/**
 * The versions of each policy, so that its changes can be shown: the newest 50, each with its definition. A version
 * is added when a process reads a policy whose hash is not that of the newest version.
 */
import { z } from 'zod';
import { defineScript } from '../redis/script.ts';
import { type Store, toJson } from '../redis/store.ts';
import { redact } from '../secrets.ts';
import { keys } from './keys.ts';
import { parseRecord } from './parse-record.ts';

const { exactOptional: optional } = z;

const PolicyVersion = z.object({
  /** When a process read it first. */
  at: z.number(),
  hash: z.string(),
  file: z.string(),
  line: optional(z.number()),
  /** An entry of `policies:` with every default; missing when it was too large to keep. */
  definition: optional(z.record(z.string(), z.unknown())),
});
export type PolicyVersion = z.output<typeof PolicyVersion>;

export const MAX_VERSIONS = 50;
/** A larger definition is not kept: a policy has some 2 KB. */
const MAX_JSON = 65_536;

/** The hash is before each version, so that it can be compared without parsing. Gives whether the version is new. */
const addVersion = defineScript(
  { keys: ['versions'], args: ['hash', 'version', 'max', 'kept'] },
  `
local newest = redis.call('LINDEX', keys.versions, 0)
local isNew = not newest or string.sub(newest, 1, #args.hash + 1) ~= args.hash .. ' '
if isNew then
  redis.call('LPUSH', keys.versions, args.hash .. ' ' .. args.version)
  redis.call('LTRIM', keys.versions, 0, tonumber(args.max) - 1)
end
redis.call('PEXPIRE', keys.versions, args.kept)
return isNew and 1 or 0`,
);

export class VersionStore {
  constructor(private readonly store: Store) {}

  /**
   * Adds a version, without secrets, unless it is the newest already; the versions are kept for `keptMs` from now on.
   * Gives whether it was added.
   */
  async add(policy: string, version: PolicyVersion, keptMs: number): Promise<boolean> {
    const clean = redact(version) as PolicyVersion;
    const { definition: _, ...short } = clean;
    const json = toJson(clean);
    const added = await addVersion(this.store, {
      keys: { versions: keys.versions(policy) },
      args: {
        hash: version.hash,
        version: json.length > MAX_JSON ? toJson(short) : json,
        max: MAX_VERSIONS,
        kept: keptMs,
      },
    });
    return Number(added) === 1;
  }

  /** The versions of a policy, newest first. */
  async all(policy: string): Promise<PolicyVersion[]> {
    const key = keys.versions(policy);
    const found = await this.store.lrange(key, 0, MAX_VERSIONS - 1);
    return found.map((one) => parseRecord(PolicyVersion, one.slice(one.indexOf(' ') + 1), key));
  }
}

// The version of each policy that was active last, so that it is active again after a restart while its file cannot be read.

const LastPolicy = z.object({
  name: z.string(),
  /** The file that it was read from, relative to the policies folder. */
  file: z.string(),
  /** The version: a `Policy`, which this room does not know. */
  policy: z.unknown(),
  hash: z.string(),
  /** When it was read first, and when its file was changed. */
  readAt: z.number(),
  changedAt: z.number(),
});
export type LastPolicy = z.output<typeof LastPolicy>;

export class LastPolicyStore {
  constructor(private readonly store: Store) {}

  async all(): Promise<LastPolicy[]> {
    const stored = await this.store.hvals(keys.lastPolicies);
    return stored.map((json) => parseRecord(LastPolicy, json, keys.lastPolicies));
  }

  names(): Promise<string[]> {
    return this.store.hkeys(keys.lastPolicies);
  }

  async set(policies: readonly LastPolicy[]): Promise<void> {
    if (policies.length > 0)
      await this.store.hset(
        keys.lastPolicies,
        Object.fromEntries(policies.map((one) => [one.name, toJson(one)])),
      );
  }

  async remove(names: readonly string[]): Promise<void> {
    if (names.length > 0) await this.store.hdel(keys.lastPolicies, ...names);
  }
}
