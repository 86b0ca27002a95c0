/**
 * The kinds of channels that `notifications` in `config/caretaker.yaml` may name, and what each takes. How
 * each sends is in `src/notify/channels/`.
 */
import { z } from 'zod';
import { keepSecret } from '../secrets.ts';

/** A text that is never printed. The addresses of chat services are credentials in themselves. */
const secret = (text: z.ZodType<string>) =>
  text.transform((value) => {
    keepSecret(value.trim());
    return value.trim();
  });

const Webhook = z
  .strictObject({
    url: secret(z.url({ protocol: /^https?$/, error: 'must be an http:// or https:// address' })).describe(
      'Where the JSON message is sent by POST.',
    ),
    secret: z
      .optional(secret(z.string().min(8)))
      .describe('Signs each message, 8 characters or more. Default: not signed.'),
  })
  .describe('An HTTP address that is notified.');

/** One receiver: a channel by its kind, with its settings. */
export const Receiver = z.union([z.strictObject({ webhook: Webhook })]);
export type Receiver = z.output<typeof Receiver>;
