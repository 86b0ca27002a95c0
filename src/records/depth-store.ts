/**
 * How many entries each queue had in each minute of the last hour. The first daemon that comes by in a minute notes it.
 * It is about the present: not in a backup, and gone when no daemon has run for two hours.
 */
import { z } from 'zod';
import type { Store } from '../redis/store.ts';
import { keys } from './keys.ts';
import { parseRecord } from './parse-record.ts';

export const DEPTH_MINUTE_MS = 60_000;
export const DEPTH_MINUTES = 60;
const KEPT_MS = 2 * DEPTH_MINUTES * DEPTH_MINUTE_MS;

/** Entries that wait or are active, by queue. */
const Depth = z.record(z.string(), z.number());
export type Depth = z.output<typeof Depth>;

const minuteOf = (at: number): number => Math.floor(at / DEPTH_MINUTE_MS) * DEPTH_MINUTE_MS;

export class DepthStore {
  constructor(private readonly store: Store) {}

  /** Notes the depth that `read` gives, if none is noted in this minute. Removes what is older than an hour. */
  async note(at: number, read: () => Promise<Depth>): Promise<void> {
    const minute = minuteOf(at);
    const noted = await this.store.hkeys(keys.queueDepth);
    if (noted.includes(String(minute))) return;
    const old = noted.filter((one) => Number(one) <= minute - DEPTH_MINUTES * DEPTH_MINUTE_MS);
    const writing = this.store.multi();
    writing.hsetnx(keys.queueDepth, String(minute), JSON.stringify(await read()));
    if (old.length > 0) writing.hdel(keys.queueDepth, ...old);
    writing.pexpire(keys.queueDepth, KEPT_MS);
    await writing.exec();
  }

  /** Each minute of the last hour, oldest first; without a depth where no daemon noted one. */
  async lastHour(now: number): Promise<{ at: number; depth?: Depth }[]> {
    const noted = await this.store.hgetall(keys.queueDepth);
    return Array.from({ length: DEPTH_MINUTES }, (_, index) => {
      const at = minuteOf(now) - (DEPTH_MINUTES - 1 - index) * DEPTH_MINUTE_MS;
      const json = noted[String(at)];
      return json === undefined ? { at } : { at, depth: parseRecord(Depth, json, keys.queueDepth) };
    });
  }
}
