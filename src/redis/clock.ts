/**
 * The clock that all machines share: Redis's time, continued with this process's own monotonic clock. A
 * machine's clock may be wrong by half a minute or jump by hours without making a schedule early, late or
 * double.
 */
import { uptime } from 'node:os';
import type { Clock } from '../clock.ts';
import type { Log } from '../log.ts';
import type { Store } from './store.ts';

export interface RedisClock extends Clock {
  /**
   * Reads Redis's time again, because a monotonic clock drifts, and stops while a machine sleeps. Costs one
   * command.
   */
  resync(): Promise<void>;
}

/** A slower answer is too imprecise to be used. */
const SLOW_MS = 2_000;
/** Smaller differences are ignored. */
const NOISE_MS = 5;
/** A larger difference since the previous read is a jump: a scheduled time that is later than 90 s is not fired on time. */
export const JUMP_MS = 30_000;

export interface RedisClockOptions {
  /** Called when Redis's time has gone forward, or back (negative), beside the time that has passed here. */
  onJump?: (byMs: number) => void;
  /** The time since this machine started. Unlike `clock`, it goes on while the machine sleeps. */
  uptimeMs?: () => number;
}

/**
 * Costs one command. `clock` measures the time between two reads; its offset from Redis's time does not
 * matter.
 */
export async function redisClock(
  store: Pick<Store, 'time'>,
  clock: Clock,
  { onJump, uptimeMs = () => uptime() * 1_000 }: RedisClockOptions = {},
): Promise<RedisClock> {
  let ahead: number | undefined;
  let awake = uptimeMs() - clock.now();
  const resync = async () => {
    const before = clock.now();
    const [seconds = 0, micros = 0] = (await store.time()).map(Number);
    const after = clock.now();
    const measured = Math.round(seconds * 1000 + micros / 1000 - (before + after) / 2);
    const unsure = (after - before) / 2 + NOISE_MS;
    if (ahead !== undefined && (unsure >= SLOW_MS || Math.abs(measured - ahead) <= unsure)) return;
    const slept = Math.max(0, uptimeMs() - after - awake);
    const jump = measured - (ahead ?? measured) - slept;
    ahead = measured;
    awake += slept;
    if (Math.abs(jump) >= JUMP_MS) onJump?.(jump);
  };
  await resync();
  return { now: () => clock.now() + (ahead ?? 0), sleep: (ms, signal) => clock.sleep(ms, signal), resync };
}

const RESYNC_INTERVAL_MS = 10_000;

/** Resynchronizes the clock at an interval, until the returned function is called. */
export function keepInSync(clock: RedisClock, log: Log): () => void {
  const timer = setInterval(() => {
    clock.resync().catch((error: unknown) => log.debug({ err: error }, 'the time could not be asked'));
  }, RESYNC_INTERVAL_MS);
  timer.unref();
  return () => clearInterval(timer);
}
