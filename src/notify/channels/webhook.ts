/** A webhook: the message as JSON, signed when the configuration has a secret. */
import { createHmac } from 'node:crypto';
import type { Clock } from '../../clock.ts';
import { visibleJson } from '../../text.ts';
import type { Send } from '../channel.ts';
import { post } from '../post.ts';

/** Signed again for each attempt, so that a receiver can reject old timestamps. */
export const sendToWebhook: Send<'webhook'> = (
  { event, message },
  { url, secret },
  { clock, dispatcher },
) => {
  const body = visibleJson(message);
  return post({ url, headers: headersFor(event, body, secret, clock), body }, dispatcher);
};

function headersFor(
  event: string,
  body: string,
  secret: string | undefined,
  clock: Clock,
): Record<string, string> {
  const timestamp = String(Math.floor(clock.now() / 1000));
  return {
    'content-type': 'application/json',
    'user-agent': 'caretaker',
    'x-caretaker-event': event,
    'x-caretaker-timestamp': timestamp,
    ...(secret === undefined ? {} : { 'x-caretaker-signature': signatureOf(secret, timestamp, body) }),
  };
}

/**
 * The value of `x-caretaker-signature`: an HMAC-SHA256 over the timestamp, a dot and the body, byte for byte.
 *
 * The timestamp is part of it, so that a recorded message cannot be sent again later.
 */
const signatureOf = (secret: string, timestamp: string, body: string): string =>
  `sha256=${createHmac('sha256', secret).update(`${timestamp}.${body}`).digest('hex')}`;
