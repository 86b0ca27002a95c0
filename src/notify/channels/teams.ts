/** A workflow of Microsoft Teams that posts an Adaptive Card. Its texts are not read as Markdown. */
import type { Send } from '../channel-types.ts';
import { postJson } from '../post.ts';
import { cut, severityOf, textOf } from '../wording.ts';

/** A card may have 28 KB in all. */
const MAX_LENGTH = 8_000;

const colors = { info: 'good', warning: 'warning', error: 'attention' } as const;

export const sendToTeams: Send<'teams'> = (delivery, { url }, tools) => {
  const lines = cut(textOf(delivery), MAX_LENGTH).split('\n');
  const body = lines.map((text, at) => ({
    type: 'RichTextBlock',
    inlines: [
      {
        type: 'TextRun',
        text: text === '' ? ' ' : text,
        ...(at === 0 ? { weight: 'bolder', color: colors[severityOf(delivery)] } : {}),
      },
    ],
  }));
  const content = {
    $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
    type: 'AdaptiveCard',
    version: '1.4',
    body,
    ...(delivery.link === undefined
      ? {}
      : { actions: [{ type: 'Action.OpenUrl', title: 'Open', url: delivery.link }] }),
  };
  const card = { contentType: 'application/vnd.microsoft.card.adaptive', content };
  return postJson(url, { type: 'message', attachments: [card] }, tools);
};
