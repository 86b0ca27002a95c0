/**
 * The kinds of notification channels in `config/caretaker.yaml`, and the settings of each. How each channel
 * sends is in `src/notify/channels/`.
 */
import { z } from 'zod';
import { keepSecret } from '../secrets.ts';

/** A string that is never printed. The addresses of chat services are credentials too. */
const secret = (text: z.ZodType<string>) =>
  text.transform((value) => {
    keepSecret(value.trim());
    return value.trim();
  });

const Webhook = z
  .strictObject({
    url: secret(z.url({ protocol: /^https?$/, error: 'must be an http:// or https:// address' })).describe(
      'The JSON message is sent to this address by POST.',
    ),
    secret: z
      .optional(secret(z.string().min(8)))
      .describe('Secret that signs each message, at least 8 characters. Default: not signed.'),
  })
  .describe('An HTTP address that receives notifications.');

/** One receiver: the kind of channel, with its settings. */
export const Receiver = z.union([z.strictObject({ webhook: Webhook })]);
export type Receiver = z.output<typeof Receiver>;
