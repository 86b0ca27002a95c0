/**
 * How far what Redis holds has come: a number that only grows, kept with a name of these records.
 *
 * It is raised before every effect and every few seconds. Who remembers a higher number than Redis shows
 * knows that Redis was put back to an older state; who remembers another name, that it was emptied or that
 * this is another Redis.
 */
import { randomUUID } from 'node:crypto';
import { runScript } from '../redis/script.ts';
import type { Store } from '../redis/store.ts';
import { keys } from './keys.ts';

/** A state of the records. */
export interface Generation {
  /** The name of these records: another Redis, or the same one emptied, has another. */
  id: string;
  number: number;
}

export type Seen =
  | ({ is: 'going-on' } & Generation)
  /** Redis holds nothing of what was remembered. */
  | ({ is: 'emptied' } & Generation)
  /** Redis was put back: `at` is when the state that it holds was written last. */
  | ({ is: 'older'; at: number; remembered: number } & Generation);

/** So far a new beginning lies ahead of anything that a process may remember of what went before. */
const AHEAD = 1_000_000;

/**
 * KEYS: generation. ARGV: name remembered or '', number remembered, a new name, now. Gives what it is now,
 * name, number, when.
 */
const RAISE = `
local id, number, at = unpack(redis.call('HMGET', KEYS[1], 'id', 'number', 'at'))
local known = tonumber(ARGV[2])
if id and id == ARGV[1] and tonumber(number or 0) < known then return {'older', id, number or '0', at or '0'} end
if not id then
  id = ARGV[3]
  redis.call('HSET', KEYS[1], 'id', id)
end
redis.call('HSET', KEYS[1], 'at', ARGV[4])
local now = redis.call('HINCRBY', KEYS[1], 'number', 1)
return {(ARGV[1] == '' or ARGV[1] == id) and 'going-on' or 'emptied', id, tostring(now), ARGV[4]}`;

/**
 * KEYS: generation. ARGV: name, number remembered, the new one, now. Gives 1 to exactly one of those who saw
 * the older state.
 */
const BEGIN_AGAIN = `
local id, number = unpack(redis.call('HMGET', KEYS[1], 'id', 'number'))
if id ~= ARGV[1] or tonumber(number or 0) >= tonumber(ARGV[2]) then return 0 end
redis.call('HSET', KEYS[1], 'number', ARGV[3], 'at', ARGV[4])
return 1`;

export class GenerationStore {
  private id = '';
  private highest = 0;
  private breaks = 0;

  constructor(private readonly store: Store) {}

  /** What this process remembers. */
  get remembered(): Generation {
    return { id: this.id, number: this.highest };
  }

  /**
   * Another value once Redis was emptied or put back: what a process knows of it besides counts no longer.
   */
  get era(): string {
    return `${this.id} ${this.breaks}`;
  }

  /** Remembers what another process, or this one before it was started again, has seen. */
  remember({ id, number }: Generation): void {
    if (id !== this.id) this.highest = 0;
    this.id = id;
    this.saw(number);
  }

  /** Remembers a number of these records. */
  saw(number: number): void {
    this.highest = Math.max(this.highest, number);
  }

  /** The name of the records that Redis holds; nothing while nobody has raised their number. */
  async name(): Promise<string | undefined> {
    return (await this.store.hget(keys.generation, 'id')) ?? undefined;
  }

  /** Raises the number, unless Redis was put back to an older state. */
  async raise(now: number): Promise<Seen> {
    const { id: knownId, number: known } = this.remembered;
    const args = [knownId, known, randomUUID(), now];
    const answer = (await runScript(this.store, RAISE, [keys.generation], args)) as [
      Seen['is'],
      string,
      string,
      string,
    ];
    const [is, id, number, at] = answer;
    const found = { id, number: Number(number) };
    if (is === 'older') this.breaks += 1;
    if (is === 'older') return { is, ...found, at: Number(at), remembered: known };
    this.remember(found);
    return { is, ...found };
  }

  /** Takes the older state as what holds from now on. True for exactly one of the processes that saw it. */
  async beginAgain({ id, remembered }: { id: string; remembered: number }, now: number): Promise<boolean> {
    const args = [id, remembered, remembered + AHEAD, now];
    const begun = (await runScript(this.store, BEGIN_AGAIN, [keys.generation], args)) === 1;
    if (begun) this.saw(remembered + AHEAD);
    return begun;
  }
}
