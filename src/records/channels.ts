import type { Cluster, Redis } from 'ioredis';
import { keyPrefixOf, type Store } from '../redis/store.ts';

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
      await stop();
      throw error;
    }
    return stop;
  }

  private open(): Redis | Cluster {
    const { store } = this;
    const subscriber = store.isCluster ? (store as Cluster).duplicate() : (store as Redis).duplicate();
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
