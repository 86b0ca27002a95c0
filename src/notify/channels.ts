/** Every kind of channel with the function that sends through it; `src/settings/channels.ts` has their settings. */
import type { Receiver } from '../settings/channels.ts';
import type { Kind, Notice, Send } from './channel.ts';
import { sendToWebhook } from './channels/webhook.ts';
import type { Delivery } from './post.ts';

const channels: { [K in Kind]: Send<K> } = {
  webhook: sendToWebhook,
};

/** Sends once through the receiver's channel. */
export function send(
  notice: Notice,
  receiver: Receiver,
  tools: Parameters<Send<Kind>>[2],
): Promise<Delivery> {
  const kind = (Object.keys(channels) as Kind[]).find((name) => name in receiver) as Kind;
  // The settings are of this kind, which TypeScript cannot see through the table.
  const settings = (receiver as Record<string, unknown>)[kind] as never;
  return channels[kind](notice, settings, tools);
}
