/** A webhook: the message as JSON, with the headers of Standard Webhooks; signed when the configuration has a secret. */
import { createHmac } from 'node:crypto';
import { isoTime } from '../../clock.ts';
import { webhookKey } from '../../settings/channels.ts';
import { visibleJson } from '../../text.ts';
import type { Send } from '../channel-types.ts';
import { post } from '../post.ts';

/** The id is the same in each attempt. The time and the signature are not, so that a receiver can reject old ones. */
export const sendToWebhook: Send<'webhook'> = ({ id, event, at, link, message }, { url, secret }, tools) => {
  const body = visibleJson({
    type: event,
    timestamp: isoTime(at),
    data: { ...message, ...(link && { link }) },
  });
  const timestamp = String(Math.floor(tools.now / 1000));
  const headers = {
    'content-type': 'application/json',
    'user-agent': 'caretaker',
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    ...(secret === undefined
      ? {}
      : { 'webhook-signature': signatureOf(secret, `${id}.${timestamp}.${body}`) }),
  };
  return post({ url, headers, body }, tools);
};

const signatureOf = (secret: string, signed: string): string =>
  `v1,${createHmac('sha256', webhookKey(secret)).update(signed).digest('base64')}`;
