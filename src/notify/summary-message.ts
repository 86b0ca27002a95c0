/** One message of several that were held together; pure. */
import { createHash } from 'node:crypto';
import { isoMinute, isoTime } from '../clock.ts';
import type { NewDelivery } from '../records/delivery-store.ts';
import type { DueHold } from '../records/hold-store.ts';
import { countOf } from '../text.ts';
import { subjectOf } from './wording.ts';

/** More lines than this are cut to the first line of each message. */
const MAX_LINES = 40;
/** How many messages the text has. */
const MAX_NAMED = 20;
/** How many subjects the first line names. */
const MAX_SUBJECTS = 3;

/** The delivery of a hold: the message itself when it is the only one. The same one whenever it is made. */
export function combined({ messages, kind }: Pick<DueHold, 'messages' | 'kind'>): NewDelivery {
  const last = latestOf(messages);
  const [first] = last;
  if (!first) throw new Error('a hold has no messages');
  if (last.length === 1) return first;
  const { to } = first;
  return {
    id: `msg_${createHash('sha256')
      .update(JSON.stringify(messages.map(({ id }) => id)))
      .digest('base64url')
      .slice(0, 27)}`,
    to,
    event: 'summary',
    at: Math.max(...last.map(({ at }) => at)),
    subjects: [...new Set(last.flatMap(({ subjects = [] }) => subjects))],
    ...sameIn(last, 'policy'),
    ...sameIn(last, 'account'),
    ...sameIn(last, 'run'),
    ...sameIn(last, 'link'),
    message: {
      text: textOf(last, kind !== 'group'),
      messages: last.map(({ event, at, link, message }) => ({
        type: event,
        timestamp: isoTime(at),
        data: { ...message, ...(link === undefined ? {} : { link }) },
      })),
    },
  };
}

/** Of the messages about one thing the latest, in the place of the latest. */
const latestOf = (messages: readonly NewDelivery[]): NewDelivery[] => {
  const lastIndex = new Map(messages.map(({ about, id }, index) => [about ?? id, index]));
  return messages.filter(({ about, id }, index) => lastIndex.get(about ?? id) === index);
};

/** What all of them have in common. */
function sameIn<K extends 'policy' | 'account' | 'run' | 'link'>(
  messages: readonly NewDelivery[],
  key: K,
): Partial<Pick<NewDelivery, K>> {
  const values = new Set(messages.map((one) => one[key]));
  const [value] = values;
  return values.size === 1 && value !== undefined ? ({ [key]: value } as Pick<NewDelivery, K>) : {};
}

/** `withTimes`: for messages that were held so long that they do not show when it was. */
function textOf(messages: readonly NewDelivery[], withTimes: boolean): string {
  const named = messages.slice(0, MAX_NAMED).map(({ at, message }) => {
    const [first = '', ...rest] = message.text.split('\n');
    return [withTimes ? `${isoMinute(at)} ${first}` : first, ...rest];
  });
  const isLong = named.flat().length > MAX_LINES;
  const more = messages.length - named.length;
  return [
    titleOf(messages),
    ...named.flatMap(([first = '', ...rest]) => [
      `- ${first}`,
      ...(isLong ? [] : rest.map((one) => `  ${one}`)),
    ]),
    ...(more > 0 ? [`... and ${countOf(more, 'more notification')}.`] : []),
  ].join('\n');
}

/** "4 notifications: nightly-sync, reports, backups and 1 more". */
function titleOf(messages: readonly NewDelivery[]): string {
  const subjects = [...new Set(messages.map(subjectOf))];
  const named = subjects.slice(0, MAX_SUBJECTS);
  const more = subjects.length - named.length;
  const list = new Intl.ListFormat('en').format([...named, ...(more > 0 ? [`${more} more`] : [])]);
  return `${countOf(messages.length, 'notification')}: ${list}`;
}
