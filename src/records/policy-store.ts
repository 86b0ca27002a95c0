import type { CaretakerEvent } from '../events.ts';
import { keys } from './keys.ts';
import type { Store } from './redis.ts';

/** Who paused a policy, when and why. */
export interface Pause {
  at: number;
  by: string;
  reason?: string;
  /** When it ends by itself; without it, `caretaker policies resume` ends it. */
  until?: number;
}

/** The pause that holds at `now`: one that has ended by itself is over, though it is still written down. */
export const pauseAt = (state: PolicyState | undefined, now: number): Pause | undefined =>
  state?.pause && (state.pause.until ?? Number.POSITIVE_INFINITY) > now ? state.pause : undefined;

/** What is remembered of a policy besides its file: it survives restarts and edits. */
export interface PolicyState {
  pause?: Pause;
  /** The moment up to which its firings have been dealt with. */
  cursor?: number;
  /** The crons and time zone whose firings the cursor counts. */
  moments?: string;
  /** How many runs in a row have failed. */
  failures: number;
}

export class PolicyStore {
  constructor(private readonly store: Store) {}

  async state(name: string): Promise<PolicyState> {
    return fromHash(await this.store.hgetall(keys.policy(name)));
  }

  /** The states of many policies by name, in one round trip. */
  async many(names: readonly string[]): Promise<Map<string, PolicyState>> {
    const reads = this.store.pipeline();
    for (const name of names) reads.hgetall(keys.policy(name));
    const answers = (await reads.exec()) ?? [];
    return new Map(
      answers.map(([error, hash], index) => {
        if (error) throw error;
        return [names[index] ?? '', fromHash(hash as Record<string, string>)];
      }),
    );
  }

  async pause(name: string, pause: Pause): Promise<void> {
    await this.store.hset(keys.policy(name), 'pause', JSON.stringify(pause));
    await this.tell(name, pause.at);
  }

  /** Ends a pause and forgets the failures that may have led to it. False when it was not paused. */
  async resume(name: string, at: number): Promise<boolean> {
    const removed = await this.store.hdel(keys.policy(name), 'pause');
    await this.store.hdel(keys.policy(name), 'failures');
    await this.tell(name, at);
    return removed > 0;
  }

  /**
   * Moves the cursor on, and notes whose firings it counts; it never goes back, whatever the clocks of several
   * daemons say.
   */
  async moveCursor(name: string, to: number, moments: string): Promise<void> {
    const script = `
      local at = tonumber(redis.call('HGET', KEYS[1], 'cursor') or 0)
      if tonumber(ARGV[1]) > at then redis.call('HSET', KEYS[1], 'cursor', ARGV[1]) end
      redis.call('HSET', KEYS[1], 'moments', ARGV[2])`;
    await this.store.eval(script, 1, keys.policy(name), to, moments);
  }

  /** Counts a failed run, or starts the count anew; gives how many failed in a row. */
  async countFailure(name: string, failed: boolean): Promise<number> {
    if (failed) return this.store.hincrby(keys.policy(name), 'failures', 1);
    await this.store.hdel(keys.policy(name), 'failures');
    return 0;
  }

  private async tell(policy: string, at: number): Promise<void> {
    const event: CaretakerEvent = { type: 'policy.changed', policy, at };
    await this.store.publish(keys.events, JSON.stringify(event));
  }
}

const fromHash = (hash: Record<string, string>): PolicyState => ({
  failures: Number(hash['failures'] ?? 0),
  ...(hash['pause'] ? { pause: JSON.parse(hash['pause']) as Pause } : {}),
  ...(hash['cursor'] ? { cursor: Number(hash['cursor']) } : {}),
  ...(hash['moments'] ? { moments: hash['moments'] } : {}),
});
