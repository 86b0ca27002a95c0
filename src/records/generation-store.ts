/**
 * Stores the generation of the records: a number that only grows, with an id of these records.
 *
 * It is raised before every effect and every few seconds. A process that remembers a higher number than Redis
 * has detects that Redis was restored to an older state. A process that remembers another id detects that
 * Redis was emptied, or that this is another Redis.
 */
import { randomUUID } from 'node:crypto';
import { defineScript } from '../redis/script.ts';
import type { Store } from '../redis/store.ts';
import { keys } from './keys.ts';

/** A state of the records. */
export interface Generation {
  /** Identifies these records: another Redis, or the same one after it was emptied, has another id. */
  id: string;
  number: number;
}

export type GenerationCheck =
  | ({ is: 'current' } & Generation)
  /** Redis has other records than those that were remembered. */
  | ({ is: 'emptied' } & Generation)
  /** Redis was restored to an older state, which was last written at `at`. */
  | ({ is: 'older'; at: number; remembered: number } & Generation);

/**
 * How far the number is raised to continue from an older state, so that it exceeds every number that a
 * process remembers.
 */
const RECOVERY_STEP = 1_000_000;

/**
 * `known_id`: the id that the process remembers, or ''; `known`: the number that it remembers; `new_id`: an
 * id for records without one. Returns what was found, then the current id, number and time.
 */
const raiseGeneration = defineScript(
  { keys: ['generation'], args: ['known_id', 'known', 'new_id', 'now'] },
  `
local id, number, at = unpack(redis.call('HMGET', keys.generation, 'id', 'number', 'at'))
if id and id == args.known_id and tonumber(number or 0) < tonumber(args.known) then
  return {'older', id, number or '0', at or '0'}
end
if not id then
  id = args.new_id
  redis.call('HSET', keys.generation, 'id', id)
end
redis.call('HSET', keys.generation, 'at', args.now)
local raised = redis.call('HINCRBY', keys.generation, 'number', 1)
local found = (args.known_id == '' or args.known_id == id) and 'current' or 'emptied'
return {found, id, tostring(raised), args.now}`,
);

/** Continues from an older state with a number above `remembered`. Returns 1 to exactly one caller. */
const continueFromOlder = defineScript(
  { keys: ['generation'], args: ['id', 'remembered', 'number', 'now'] },
  `
local id, number = unpack(redis.call('HMGET', keys.generation, 'id', 'number'))
if id ~= args.id or tonumber(number or 0) >= tonumber(args.remembered) then return 0 end
redis.call('HSET', keys.generation, 'number', args.number, 'at', args.now)
return 1`,
);

export class GenerationStore {
  private id = '';
  private highest = 0;
  private rollbacks = 0;

  constructor(private readonly store: Store) {}

  /** The id and number that this process remembers. */
  get remembered(): Generation {
    return { id: this.id, number: this.highest };
  }

  /**
   * Changes when Redis was emptied or restored. Data that a process cached under another value is invalid.
   */
  get epoch(): string {
    return `${this.id} ${this.rollbacks}`;
  }

  /** Remembers an id and number that this process, or another one, has seen. */
  remember({ id, number }: Generation): void {
    if (id !== this.id) this.highest = 0;
    this.id = id;
    this.observe({ id, number });
  }

  /** Remembers a number, unless it belongs to other records than those that are remembered. */
  observe({ id, number }: Generation): void {
    if (id === this.id) this.highest = Math.max(this.highest, number);
  }

  /** The id of the records in Redis; undefined while no process has raised the number. */
  async name(): Promise<string | undefined> {
    return (await this.store.hget(keys.generation, 'id')) ?? undefined;
  }

  /** Raises the number, unless Redis was restored to an older state. */
  async raise(now: number): Promise<GenerationCheck> {
    const { id: knownId, number: known } = this.remembered;
    const answer = (await raiseGeneration(this.store, {
      keys: { generation: keys.generation },
      args: { known_id: knownId, known, new_id: randomUUID(), now },
    })) as [GenerationCheck['is'], string, string, string];
    const [is, id, number, at] = answer;
    const found = { id, number: Number(number) };
    if (is === 'older') this.rollbacks += 1;
    if (is === 'older') return { is, ...found, at: Number(at), remembered: known };
    this.remember(found);
    return { is, ...found };
  }

  /** Gives restored records an id of their own: no process remembers a number of it. */
  async begin(now: number): Promise<void> {
    await this.store.del(keys.generation);
    await this.store.hset(keys.generation, 'id', randomUUID(), 'number', 1, 'at', now);
  }

  /** Accepts the older state as the current one. True for exactly one of the processes that detected it. */
  async continueFromOlder(
    { id, remembered }: { id: string; remembered: number },
    now: number,
  ): Promise<boolean> {
    const reply = await continueFromOlder(this.store, {
      keys: { generation: keys.generation },
      args: { id, remembered, number: remembered + RECOVERY_STEP, now },
    });
    const continued = reply === 1;
    if (continued) this.observe({ id, number: remembered + RECOVERY_STEP });
    return continued;
  }
}
