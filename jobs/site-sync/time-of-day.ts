/** Times of day in UTC, as the service writes them: `03:17Z`. */
import { createHash } from 'node:crypto';
import { z } from 'zod';

const DAY = 24 * 60;
const timeFormat = /^([01]\d|2[0-3]):([0-5]\d)(?::[0-5]\d)?Z?$/;

/** Minutes since midnight; `undefined` when the text is not a time of day. */
function minuteOf(text: string): number | undefined {
  const match = timeFormat.exec(text);
  return match ? Number(match[1]) * 60 + Number(match[2]) : undefined;
}

const timeAt = (minute: number): string =>
  `${String(Math.floor(minute / 60)).padStart(2, '0')}:${String(minute % 60).padStart(2, '0')}Z`;

const windowBound = (description: string) =>
  z
    .string()
    .regex(/^([01]\d|2[0-3]):[0-5]\dZ?$/, 'must be a time of day in UTC such as 01:00')
    .describe(description);

/** Part of the day, in UTC. A window whose end is earlier than its start goes over midnight. */
export const DayWindow = z
  .strictObject({
    from: windowBound('Start of the window, in UTC, such as 01:00.'),
    to: windowBound(
      'End of the window (exclusive), in UTC, such as 05:00. If earlier than `from`, it is on the next day.',
    ),
  })
  .refine(({ from, to }) => minuteOf(from) !== minuteOf(to), {
    path: ['to'],
    error: 'must differ from "from": the window would be empty',
  });
export type DayWindow = z.output<typeof DayWindow>;

/** The minute of the window that is assigned to `id`. It never changes, and many ids are spread evenly. */
export function assignedTime({ from, to }: DayWindow, id: string): string {
  const [begin = 0, end = 0] = [minuteOf(from), minuteOf(to)];
  const length = (end - begin + DAY) % DAY;
  return timeAt((begin + (createHash('sha256').update(id).digest().readUInt32BE() % length)) % DAY);
}

/** Whether two texts name the same minute of the day. False when one of them is not a time of day. */
export const isSameTime = (one: string, other: string | null | undefined): boolean =>
  minuteOf(one) !== undefined && minuteOf(one) === minuteOf(other ?? '');
