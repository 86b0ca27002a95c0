/**
 * How far what Redis holds has come: a number that only grows, kept with a name of these records.
 *
 * It is raised before every effect and every few seconds. Who remembers a higher number than Redis shows
 * knows that Redis was put back to an older state; who remembers another name, that it was emptied or that
 * this is another Redis.
 */
import { randomUUID } from 'node:crypto';
import { defineScript } from '../redis/script.ts';
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
 * `known_id`: the name that the process remembers, or ''; `known`: the number that it remembers; `new_id`: a
 * name for records without one. Gives what was found, then name, number and time as they are now.
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
local found = (args.known_id == '' or args.known_id == id) and 'going-on' or 'emptied'
return {found, id, tostring(raised), args.now}`,
);

/** Continues from an older state with a number above `remembered`. Gives 1 to one of the callers that saw it. */
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
    const answer = (await raiseGeneration(this.store, {
      keys: { generation: keys.generation },
      args: { known_id: knownId, known, new_id: randomUUID(), now },
    })) as [Seen['is'], string, string, string];
    const [is, id, number, at] = answer;
    const found = { id, number: Number(number) };
    if (is === 'older') this.breaks += 1;
    if (is === 'older') return { is, ...found, at: Number(at), remembered: known };
    this.remember(found);
    return { is, ...found };
  }

  /** Takes the older state as what holds from now on. True for exactly one of the processes that saw it. */
  async continueFromOlder(
    { id, remembered }: { id: string; remembered: number },
    now: number,
  ): Promise<boolean> {
    const continued = await continueFromOlder(this.store, {
      keys: { generation: keys.generation },
      args: { id, remembered, number: remembered + AHEAD, now },
    });
    const begun = continued === 1;
    if (begun) this.saw(remembered + AHEAD);
    return begun;
  }
}
