/** A topic of ntfy, as JSON to the address of the server. */
import type { Send } from '../channel-types.ts';
import { postJson } from '../post.ts';
import { cut, severityOf, textOf, titleOf } from '../wording.ts';

/** A longer message would be delivered as a file. The server counts bytes, of which a character has up to three. */
const MAX_LENGTH = 1_300;

const priorities = { info: 3, warning: 4, error: 5 } as const;

export const sendToNtfy: Send<'ntfy'> = (delivery, { url, topic, token }, tools) => {
  const body = {
    topic,
    title: titleOf(delivery),
    message: cut(textOf(delivery), MAX_LENGTH),
    priority: priorities[severityOf(delivery)],
    ...(delivery.link === undefined ? {} : { click: delivery.link }),
  };
  return postJson(url, body, tools, token === undefined ? {} : { authorization: `Bearer ${token}` });
};
