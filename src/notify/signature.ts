/** How a receiver knows that a message is ours, whole and recent. */
import { createHmac } from 'node:crypto';

/**
 * The value of `x-caretaker-signature`: an HMAC-SHA256 over the timestamp, a dot and the body, byte for byte.
 *
 * The timestamp is signed too, so that a message that was listened to cannot be sent again later.
 */
export const signatureOf = (secret: string, timestamp: string, body: string): string =>
  `sha256=${createHmac('sha256', secret).update(`${timestamp}.${body}`).digest('hex')}`;
