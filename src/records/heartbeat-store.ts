/**
 * When each heartbeat was sent last, by whichever process: one of them sends it in each interval. Whoever finds it due
 * takes it, so the next one is sent when that process has died.
 */
import { defineScript } from '../redis/script.ts';
import type { Store } from '../redis/store.ts';
import { keys } from './keys.ts';

/** Gives the time of the last one when it is not due, else ''. A time in the future is of a clock that was set back. */
const takeHeartbeat = defineScript(
  { keys: ['heartbeat'], args: ['now', 'wait', 'kept'] },
  `
local last = redis.call('GET', keys.heartbeat)
local now, wait = tonumber(args.now), tonumber(args.wait)
if last and now < tonumber(last) + wait and now >= tonumber(last) - wait then return last end
redis.call('SET', keys.heartbeat, args.now, 'PX', args.kept)
return ''`,
);

/** A heartbeat that is not sent any more is forgotten after this, or twice the wait if that is longer. */
const KEPT_MS = 3_600_000;

export class HeartbeatStore {
  constructor(private readonly store: Store) {}

  /** Takes the heartbeat when the last one is so long ago: then the caller sends it. Else gives when that was. */
  async take(name: string, now: number, wait: number): Promise<'taken' | { at: number }> {
    const last = await takeHeartbeat(this.store, {
      keys: { heartbeat: keys.heartbeat(name) },
      args: { now, wait, kept: Math.max(KEPT_MS, 2 * wait) },
    });
    return last === '' ? 'taken' : { at: Number(last) };
  }
}
