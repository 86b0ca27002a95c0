import type { Cluster, Redis } from 'ioredis';
import type { Store } from '../redis/store.ts';

/** Passes the messages of a channel on, on a connection of its own. The returned function stops that. */
export async function listenTo(
  store: Store,
  channel: string,
  onMessage: (message: string) => void,
): Promise<() => Promise<void>> {
  // A connection that listens can do nothing else.
  const subscriber = store.isCluster ? (store as Cluster).duplicate() : (store as Redis).duplicate();
  subscriber.on('message', (_channel: string, message: string) => onMessage(message));
  subscriber.on('error', () => undefined); // it reconnects by itself, and what was missed is not essential
  await subscriber.subscribe(channel);
  return async () => {
    // Not `quit`: without Redis, that would wait until it is back.
    subscriber.removeAllListeners('message');
    subscriber.disconnect();
  };
}
