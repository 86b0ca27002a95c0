/** The interface of a kind of channel: one function that sends a notice once. */
import type { Dispatcher } from 'undici';
import type { Clock } from '../clock.ts';
import type { Receiver } from '../settings/channels.ts';
import type { Message } from './message.ts';
import type { Delivery } from './post.ts';

export type Kind = Receiver extends infer R ? (R extends R ? keyof R : never) : never;
type SettingsOf<K extends Kind> = Extract<Receiver, Record<K, unknown>>[K];

/** What is sent. */
export interface Notice {
  event: `run.${string}` | 'policy.paused' | 'policy.findings' | 'policy.recovered';
  message: Message;
}

/** Sends once. Never rejects: the delivery has the error, and whether a retry may help. */
export type Send<K extends Kind> = (
  notice: Notice,
  settings: SettingsOf<K>,
  tools: { clock: Clock; dispatcher: Dispatcher },
) => Promise<Delivery>;
