import { randomBytes } from 'node:crypto';
import { setTimeout as after } from 'node:timers/promises';
import type { Access, Identity } from '../../access/access.ts';
import { hashOfKey, seal } from '../../access/credentials.ts';
import type { Clock } from '../../clock.ts';
import { CaretakerError } from '../../errors.ts';
import type { Session, SessionStore } from '../../records/session-store.ts';

/** A session that was read is not read again for so long: one that another process ends works here until then. */
const CACHED_MS = 5_000;
/** Sessions that are remembered; beyond that the one that was read first is forgotten. */
const MAX_CACHED = 1_000;
/** The last use is written at most once in this time. */
const WRITE_INTERVAL_MS = 60_000;
/** Redis that takes longer is said to be away. */
const ANSWER_MS = 1_500;
/** A session that has ended is kept for so long, so that it is known whose it was. */
const ENDED_KEPT_MS = 86_400_000;

/** Redis does not answer, so it is not known whether there is a session, or none can begin. */
export class SessionsAwayError extends CaretakerError {
  readonly code = 'REDIS_UNREACHABLE';
  constructor() {
    super('Redis does not answer, so no one can sign in at the moment. Try again in a minute.');
  }
}

/** What a request found. */
export interface FoundSession extends Session {
  /** The hash of its id. */
  hash: string;
  hasEnded: boolean;
}

/**
 * Sessions in Redis, by random ids that only browsers have. A session that this process has read stays valid while Redis
 * is away.
 */
export class Sessions {
  private readonly cache = new Map<string, { session: Session; readAt: number; writtenAt: number }>();
  /** A question to Redis has no answer yet: no other one is asked, because commands wait while Redis is away. */
  private isSilent = false;

  constructor(
    private readonly store: SessionStore,
    private readonly access: () => Access,
    private readonly clock: Pick<Clock, 'now'>,
    private readonly markOf: (id: string) => string,
  ) {}

  /**
   * Begins a session and gives its id.
   *
   * @throws {SessionsAwayError}
   */
  async begin(given: {
    identity: Identity;
    user: string;
    address: string;
    browser: string;
  }): Promise<string> {
    const id = randomBytes(32).toString('base64url');
    const now = this.clock.now();
    const identity =
      given.identity.by === 'oidc'
        ? { ...given.identity, idToken: seal(given.identity.idToken, id) }
        : given.identity;
    const session = { ...given, identity, mark: this.markOf(id), begunAt: now, usedAt: now };
    await this.ask(() => this.store.begin(hashOfKey(id), session, this.keptMs));
    this.remember(hashOfKey(id), session);
    return id;
  }

  /** How long the cookie and the record of a new session are kept. */
  get keptMs(): number {
    return this.access().sessions.maxMs + ENDED_KEPT_MS;
  }

  /**
   * The session with this id. `isUse`: the request is one of a person, so it begins its idle time again.
   *
   * @throws {SessionsAwayError} when this process does not know it.
   */
  async find(id: string | undefined, isUse: boolean): Promise<FoundSession | undefined> {
    if (id === undefined || !/^[\w-]{43}$/.test(id)) return undefined;
    const hash = hashOfKey(id);
    const now = this.clock.now();
    const known = await this.read(hash);
    if (!known) return undefined;
    const { session } = known;
    const isMarked = session.identity.by !== 'dashboard' || session.mark === this.markOf(id);
    const hasEnded = !isMarked || !this.isInTime(session);
    if (isUse && !hasEnded) {
      session.usedAt = now;
      if (known.writtenAt + WRITE_INTERVAL_MS <= now) {
        known.writtenAt = now;
        // Without Redis it is written with a later use.
        await this.ask(() => this.store.use(hash, session)).catch(() => undefined);
      }
    }
    return { ...session, hash, hasEnded };
  }

  /** The sessions of a user that have not ended, the one that was used last first. */
  async of(user: string): Promise<FoundSession[]> {
    return [...(await this.store.of(user))].flatMap(([hash, session]) =>
      this.isInTime(session) ? [{ ...session, hash, hasEnded: false }] : [],
    );
  }

  private isInTime({ begunAt, usedAt }: Session): boolean {
    const now = this.clock.now();
    const { idleMs, maxMs } = this.access().sessions;
    return begunAt + maxMs > now && usedAt + idleMs > now;
  }

  async end(user: string, hashes: readonly string[]): Promise<void> {
    await this.store.end(user, hashes);
    // Afterwards: what was read before it ended has come by now.
    for (const hash of hashes) this.cache.delete(hash);
  }

  private async read(hash: string) {
    const now = this.clock.now();
    const known = this.cache.get(hash);
    if (known && known.readAt + CACHED_MS > now) return known;
    try {
      const session = await this.ask(() => this.store.get(hash));
      if (session) return this.remember(hash, session, known);
      this.cache.delete(hash);
      return undefined;
    } catch (error) {
      if (!known) throw error;
      known.readAt = now;
      return known;
    }
  }

  private remember(hash: string, session: Session, before = this.cache.get(hash)) {
    const { usedAt } = session;
    const latest = { ...session, usedAt: Math.max(usedAt, before?.session.usedAt ?? 0) };
    const known = { session: latest, readAt: this.clock.now(), writtenAt: usedAt };
    this.cache.delete(hash);
    const [oldest] = this.cache.keys();
    if (oldest !== undefined && this.cache.size >= MAX_CACHED) this.cache.delete(oldest);
    this.cache.set(hash, known);
    return known;
  }

  /** Asks Redis, which has to answer in time. */
  private async ask<T>(question: () => Promise<T>): Promise<T> {
    if (this.isSilent) throw new SessionsAwayError();
    const asked = question().then((answer) => ({ answer }));
    const result = await Promise.race([asked, after(ANSWER_MS, undefined, { ref: false })]).catch(
      () => undefined,
    );
    if (result) return result.answer;
    this.isSilent = true;
    asked
      .catch(() => undefined)
      .finally(() => {
        this.isSilent = false;
      });
    throw new SessionsAwayError();
  }
}
