/** Times of day in UTC, as the service writes them: `03:17Z`. */
import { createHash } from 'node:crypto';
import { z } from 'zod';

const DAY = 24 * 60;
const written = /^([01]\d|2[0-3]):([0-5]\d)(?::[0-5]\d)?Z?$/;

/** Minutes since midnight, or nothing when the text is no time of day. */
function minuteOf(text: string): number | undefined {
  const match = written.exec(text);
  return match ? Number(match[1]) * 60 + Number(match[2]) : undefined;
}

const timeAt = (minute: number): string =>
  `${String(Math.floor(minute / 60)).padStart(2, '0')}:${String(minute % 60).padStart(2, '0')}Z`;

const bound = (says: string) =>
  z
    .string()
    .regex(/^([01]\d|2[0-3]):[0-5]\dZ?$/, 'must be a time of day in UTC such as 01:00')
    .describe(says);

/** Part of the day, in UTC; one that ends before it begins goes over midnight. */
export const DayWindow = z
  .strictObject({
    from: bound('Start of the window, in UTC: 01:00.'),
    to: bound('Where it ends, not included, in UTC: 05:00. Earlier than `from`: on the next day.'),
  })
  .refine(({ from, to }) => minuteOf(from) !== minuteOf(to), {
    path: ['to'],
    error: 'must be another time than "from": the window would be empty',
  });
export type DayWindow = z.output<typeof DayWindow>;

/** The place of `id` in the window: the same minute always, and the places of many ids spread evenly. */
export function placeIn({ from, to }: DayWindow, id: string): string {
  const [begin = 0, end = 0] = [minuteOf(from), minuteOf(to)];
  const length = (end - begin + DAY) % DAY;
  return timeAt((begin + (createHash('sha256').update(id).digest().readUInt32BE() % length)) % DAY);
}

/** Whether two texts name the same minute of the day; `undefined` and what cannot be read are no time. */
export const sameTime = (one: string, other: string | null | undefined): boolean =>
  minuteOf(one) !== undefined && minuteOf(one) === minuteOf(other ?? '');
