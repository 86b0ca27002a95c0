/** A webhook of Discord. No one is mentioned, and nothing in the text is read as Markdown. */
import type { Send } from '../channel-types.ts';
import { postJson } from '../post.ts';
import { cut, textOf } from '../wording.ts';

const MAX_LENGTH = 2_000;

const escaped = (text: string): string => text.replace(/[\\*_~`|>#[\]()-]/g, '\\$&');

export const sendToDiscord: Send<'discord'> = (delivery, { url }, tools) => {
  const link = delivery.link === undefined ? '' : `\n<${delivery.link}>`;
  // Cut before it is escaped, so that no backslash is left over; at worst each character is escaped.
  const text = escaped(textOf(delivery));
  const max = MAX_LENGTH - link.length;
  const fitting = text.length <= max ? text : escaped(cut(textOf(delivery), Math.floor(max / 2)));
  return postJson(url, { content: fitting + link, allowed_mentions: { parse: [] } }, tools);
};
