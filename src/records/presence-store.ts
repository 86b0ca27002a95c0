import { keys } from './keys.ts';
import type { Store } from './redis.ts';

/** A policy that a daemon keeps in force, as it last read it, although its file is broken now. */
export interface KeptPolicy {
  name: string;
  /** The version in force; a `Policy`, which records know nothing of. */
  policy: unknown;
  /** The file that is broken now. */
  file: string;
  /** When the version in force was first read, and since when the file is broken. */
  readAt: number;
  brokenSince: number;
  /** The first mistake of the file, behind line and column: `3:5: "croon" is not known here.` */
  mistake: string;
}

/** A process that is at work on this Redis. */
export interface Presence {
  id: string;
  pid: number;
  host: string;
  roles: string[];
  startedAt: number;
  seenAt: number;
  /** The port of the dashboard, when it serves one. */
  dashboardPort?: number;
  /** What it keeps in force of broken files; at most `MOST_KEPT` of them are told. */
  keeps?: readonly KeptPolicy[];
}

/** One value in Redis does not grow without a bound. */
const MOST_KEPT = 200;

/** A process counts as gone when it has not been seen for so long. */
const GONE_MS = 15_000;

export class PresenceStore {
  constructor(private readonly store: Store) {}

  async show(presence: Presence): Promise<void> {
    const { keeps, ...others } = presence;
    const bounded = keeps && keeps.length > 0 ? { ...others, keeps: keeps.slice(0, MOST_KEPT) } : others;
    await this.store.hset(keys.presence, presence.id, JSON.stringify(bounded));
  }

  async leave(id: string): Promise<void> {
    await this.store.hdel(keys.presence, id);
  }

  /** Who is at work now; those that died are forgotten on the way. */
  async here(now: number): Promise<Presence[]> {
    const all = Object.values(await this.store.hgetall(keys.presence)).map(
      (json) => JSON.parse(json) as Presence,
    );
    const gone = all.filter(({ seenAt }) => now - seenAt > GONE_MS);
    if (gone.length > 0) await this.store.hdel(keys.presence, ...gone.map(({ id }) => id));
    return all.filter(({ seenAt }) => now - seenAt <= GONE_MS);
  }
}
