/**
 * Sessions of the dashboard, by the hash of their id: whoever reads Redis cannot use them. When one ends is for the
 * reader to judge, by the present settings.
 */
import { z } from 'zod';
import { Identity } from '../access/access.ts';
import { type Store, toJson } from '../redis/store.ts';
import { keys } from './keys.ts';

const Session = z.object({
  identity: Identity,
  /** Ties it to the single password of the dashboard, without which it ends: see `Authenticator`. */
  mark: z.string(),
  /** The name of the principal when it began. */
  user: z.string(),
  begunAt: z.number(),
  /** When a page was last requested, to about a minute. */
  usedAt: z.number(),
  /** From where it began. */
  address: z.string(),
  browser: z.string(),
});
export type Session = z.output<typeof Session>;

/** Of one user; when there are more, the one ends that was used longest ago. */
export const MAX_SESSIONS = 50;

export class SessionStore {
  constructor(private readonly store: Store) {}

  async begin(hash: string, session: Session, keptMs: number): Promise<void> {
    const list = keys.sessionsOf(session.user);
    await this.store.set(keys.session(hash), toJson(session), 'PX', keptMs);
    await this.store.zadd(list, session.usedAt, hash);
    await this.store.pexpire(list, keptMs);
    await this.end(session.user, await this.store.zrange(list, '0', String(-1 - MAX_SESSIONS)));
  }

  /** Undefined when it has ended, or was written by another release. */
  async get(hash: string): Promise<Session | undefined> {
    return sessionIn(await this.store.get(keys.session(hash)));
  }

  /** Writes that it was used. One that has ended meanwhile stays ended. */
  async use(hash: string, session: Session): Promise<void> {
    await this.store.set(keys.session(hash), toJson(session), 'KEEPTTL', 'XX');
    await this.store.zadd(keys.sessionsOf(session.user), 'XX', session.usedAt, hash);
  }

  async end(user: string, hashes: readonly string[]): Promise<void> {
    if (hashes.length === 0) return;
    await this.store.unlink(hashes.map((hash) => keys.session(hash)));
    await this.store.zrem(keys.sessionsOf(user), ...hashes);
  }

  /** The sessions of a user by hash, the one that was used last first. */
  async of(user: string): Promise<Map<string, Session>> {
    const hashes = await this.store.zrange(keys.sessionsOf(user), '0', '-1', 'REV');
    if (hashes.length === 0) return new Map();
    const found = await this.store.mget(hashes.map((hash) => keys.session(hash)));
    return new Map(
      hashes.flatMap((hash, at) => {
        const session = sessionIn(found[at]);
        return session ? [[hash, session]] : [];
      }),
    );
  }
}

function sessionIn(json: string | null | undefined): Session | undefined {
  if (json == null) return undefined;
  const read = Session.safeParse(JSON.parse(json));
  return read.success ? read.data : undefined;
}
