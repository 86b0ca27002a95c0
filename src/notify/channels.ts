/** Every kind of channel with the function that sends through it; `src/settings/channels.ts` has their settings. */
import type { NewDelivery } from '../records/delivery-store.ts';
import type { Receiver } from '../settings/receiver.ts';
import type { Kind, Send, Sent, Tools } from './channel-types.ts';
import { sendToDiscord } from './channels/discord.ts';
import { sendEmail } from './channels/email.ts';
import { sendToNtfy } from './channels/ntfy.ts';
import { sendToPagerDuty } from './channels/pagerduty.ts';
import { sendToSlack } from './channels/slack.ts';
import { sendToTeams } from './channels/teams.ts';
import { sendToWebhook } from './channels/webhook.ts';

const channels: { [K in Kind]: Send<K> } = {
  webhook: sendToWebhook,
  slack: sendToSlack,
  teams: sendToTeams,
  discord: sendToDiscord,
  pagerduty: sendToPagerDuty,
  ntfy: sendToNtfy,
  email: sendEmail,
};

/** Attempts a delivery once, through the receiver's channel. */
export async function send(delivery: NewDelivery, receiver: Receiver, tools: Tools): Promise<Sent> {
  const kind = (Object.keys(channels) as Kind[]).find((name) => name in receiver);
  if (kind === undefined) return { is: 'rejected', why: 'it is a heartbeat, which gets no messages' };
  // The settings are of this kind, which TypeScript cannot see through the table.
  return channels[kind](delivery, receiver[kind] as never, tools);
}
