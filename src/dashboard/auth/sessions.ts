import { randomBytes } from 'node:crypto';
import type { Clock } from '../../clock.ts';

export const SESSION_MS = 86_400_000;
/** Beyond that number the oldest session ends. */
const MAX_SESSIONS = 1_000;

/** Sessions, by random ids, in memory: a restart signs everybody out. */
export class Sessions {
  private readonly endsAt = new Map<string, number>();

  constructor(private readonly clock: Pick<Clock, 'now'>) {}

  /** Begins a session of one day. */
  begin(): string {
    const now = this.clock.now();
    for (const [id, endsAt] of this.endsAt) if (endsAt <= now) this.endsAt.delete(id);
    const [oldest] = this.endsAt.keys();
    if (oldest !== undefined && this.endsAt.size >= MAX_SESSIONS) this.endsAt.delete(oldest);
    const id = randomBytes(32).toString('base64url');
    this.endsAt.set(id, now + SESSION_MS);
    return id;
  }

  has(id: string | undefined): boolean {
    return id !== undefined && (this.endsAt.get(id) ?? 0) > this.clock.now();
  }

  end(id: string | undefined): void {
    if (id !== undefined) this.endsAt.delete(id);
  }
}
