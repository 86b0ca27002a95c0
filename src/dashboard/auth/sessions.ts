import { randomBytes } from 'node:crypto';
import type { Identity } from '../../access/access.ts';
import type { Clock } from '../../clock.ts';

export const SESSION_MS = 86_400_000;
/** Beyond that number the oldest session ends. */
const MAX_SESSIONS = 1_000;

/** Sessions, by random ids, in memory: a restart signs everyone out. */
export class Sessions {
  private readonly sessions = new Map<string, { identity: Identity; endsAt: number }>();

  constructor(private readonly clock: Pick<Clock, 'now'>) {}

  /** Begins a session of one day. */
  begin(identity: Identity): string {
    const now = this.clock.now();
    for (const [id, { endsAt }] of this.sessions) if (endsAt <= now) this.sessions.delete(id);
    const [oldest] = this.sessions.keys();
    if (oldest !== undefined && this.sessions.size >= MAX_SESSIONS) this.sessions.delete(oldest);
    const id = randomBytes(32).toString('base64url');
    this.sessions.set(id, { identity, endsAt: now + SESSION_MS });
    return id;
  }

  /** How the session began; undefined when there is none. */
  identity(id: string | undefined): Identity | undefined {
    const session = id === undefined ? undefined : this.sessions.get(id);
    return session && session.endsAt > this.clock.now() ? session.identity : undefined;
  }

  end(id: string | undefined): void {
    if (id !== undefined) this.sessions.delete(id);
  }
}
