/**
 * The events that Caretaker publishes, for listeners in any process on the same Redis.
 *
 * Events only notify: a listener that missed one finds the change in the records. Times are milliseconds
 * since 1970.
 */
import type { Cluster, Redis } from 'ioredis';
import { z } from 'zod';
import { keyPrefixOf, type Store } from '../redis/store.ts';
import type { Run, RunStatus } from '../run/run.ts';

const text = z.string();
const at = z.number();
/** Since when a target was worked on; absent when it never was. */
const worked = { job: z.exactOptional(z.string()), startedAt: z.exactOptional(z.number()) };

const CaretakerEvent = z.discriminatedUnion('type', [
  z.object({ type: z.literal('run.moved'), run: text, policy: text, status: text, at }),
  z.object({
    type: z.literal('target.ended'),
    run: text,
    target: text,
    outcome: text,
    reason: text,
    at,
    ...worked,
  }),
  z.object({ type: z.literal('policy.changed'), policy: text, at }),
  z.object({ type: z.literal('freeze.changed'), at }),
]);
export type CaretakerEvent = z.output<typeof CaretakerEvent>;

/** Parses a message; undefined for an event that this release does not know. */
export function eventIn(message: string): CaretakerEvent | undefined {
  try {
    return CaretakerEvent.safeParse(JSON.parse(message)).data;
  } catch {
    return undefined;
  }
}

/** The event of a run in a new status. Its creation is the first move. */
export const movedEvent = ({ id, policy }: Run, status: RunStatus, at: number): string =>
  JSON.stringify({ type: 'run.moved', run: id, policy, status, at } satisfies CaretakerEvent);

type Listener = (message: string) => void;

/** Nothing else would show that the connection has been broken without a word: see `SILENT_MS` in `redis/connect.ts`. */
const PING_MS = 10_000;

/** The channels that this process listens to, all on one connection: it can do nothing else meanwhile. */
export class Channels {
  private readonly channels = new Map<string, { listeners: Set<Listener>; subscribed: Promise<unknown> }>();
  private subscriber: Redis | Cluster | undefined;

  constructor(
    private readonly store: Store,
    private readonly pingMs = PING_MS,
  ) {}

  /** Passes the messages of a channel on. The returned function stops that. */
  async listen(channel: string, onMessage: Listener): Promise<() => Promise<void>> {
    this.subscriber ??= this.open();
    const { subscriber } = this;
    let known = this.channels.get(channel);
    if (!known) {
      known = { listeners: new Set(), subscribed: subscriber.subscribe(keyPrefixOf(this.store) + channel) };
      this.channels.set(channel, known);
    }
    const { listeners, subscribed } = known;
    // Of its own: the same function may listen twice.
    const listener: Listener = (message) => onMessage(message);
    listeners.add(listener);
    const stop = async () => {
      listeners.delete(listener);
      if (this.subscriber !== subscriber) return;
      if ([...this.channels.values()].some((one) => one.listeners.size > 0)) return;
      this.channels.clear();
      this.subscriber = undefined;
      // Not `quit`: without Redis, that would wait until it is back.
      subscriber.disconnect();
    };
    try {
      await subscribed;
    } catch (error) {
      // The next one to listen tries again.
      if (this.channels.get(channel) === known) this.channels.delete(channel);
      await stop();
      throw error;
    }
    return stop;
  }

  private open(): Redis | Cluster {
    const { store } = this;
    // On one server we subscribe again ourselves: nothing awaits what ioredis sends then, and a connection that is
    // closed before the answer would end the process with an unhandled rejection.
    const subscriber = store.isCluster
      ? (store as Cluster).duplicate()
      : (store as Redis).duplicate({ autoResubscribe: false });
    if (!store.isCluster)
      subscriber.on('ready', () => {
        const channels = [...this.channels.keys()].map((channel) => keyPrefixOf(store) + channel);
        if (channels.length > 0) void subscriber.subscribe(...channels).catch(() => undefined);
      });
    subscriber.on('message', (channel: string, message: string) => {
      const name = channel.slice(keyPrefixOf(store).length);
      for (const listener of this.channels.get(name)?.listeners ?? []) listener(message);
    });
    subscriber.on('error', () => undefined); // it reconnects by itself, and what was missed is not essential
    const pinging = setInterval(() => void subscriber.ping().catch(() => undefined), this.pingMs).unref();
    subscriber.on('end', () => clearInterval(pinging));
    return subscriber;
  }
}
