/** An incoming webhook of Slack. The text is plain, so nothing in it is a mention or a link. */
import type { Send } from '../channel-types.ts';
import { postJson } from '../post.ts';
import { cut, textOf, titleOf } from '../wording.ts';

/** The longest text of a block. */
const MAX_LENGTH = 3_000;

/** What Slack reads in a text that is shown in notifications. */
const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

export const sendToSlack: Send<'slack'> = (delivery, { url }, tools) => {
  const text = { type: 'plain_text', text: cut(textOf(delivery), MAX_LENGTH), emoji: false };
  const open = { type: 'plain_text', text: 'Open', emoji: false };
  const blocks = [
    { type: 'section', text },
    ...(delivery.link === undefined
      ? []
      : [{ type: 'actions', elements: [{ type: 'button', text: open, url: delivery.link }] }]),
  ];
  return postJson(url, { text: escaped(titleOf(delivery)), blocks }, tools);
};
