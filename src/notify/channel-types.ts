/** The interface of a kind of channel: one function that attempts a delivery once. */
import type { Dispatcher } from 'undici';
import type { NewDelivery } from '../records/delivery-store.ts';
import type { Channels } from '../settings/channels.ts';

/** Every kind of channel that gets messages. */
export type Kind = Exclude<keyof Channels, 'heartbeat'>;

/**
 * The result of an attempt. A later attempt may help when it `failed`, not when it was `rejected`. `status`: of the
 * answer, by HTTP. `retryAfterMs`: how long the receiver asks to be left alone.
 */
export type Sent =
  | { is: 'delivered'; status?: number }
  | { is: 'rejected'; why: string; status?: number }
  | { is: 'failed'; why: string; status?: number; retryAfterMs?: number };

export interface Tools {
  now: number;
  dispatcher: Dispatcher;
}

/** Attempts a delivery once, within 30 s. Never rejects. */
export type Send<K extends Kind> = (
  delivery: NewDelivery,
  settings: NonNullable<Channels[K]>,
  tools: Tools,
) => Promise<Sent>;
