import { keys } from './keys.ts';
import type { Store } from './redis.ts';

/** A process that is at work on this Redis. */
export interface Presence {
  id: string;
  pid: number;
  host: string;
  roles: string[];
  startedAt: number;
  seenAt: number;
}

/** A process counts as gone when it has not been seen for so long. */
const GONE_MS = 15_000;

export class PresenceStore {
  constructor(private readonly store: Store) {}

  async show(presence: Presence): Promise<void> {
    await this.store.hset(keys.presence, presence.id, JSON.stringify(presence));
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
