/** Days in configuration and policy files: one day, a range of days, or a weekday. */
import { z } from 'zod';
import { isOtherwiseWritten, noSuchDay } from '../dates.ts';
import { closest } from '../suggest.ts';

/** In the order of `Date.getDay()`. */
export const weekdays = [
  'sunday',
  'monday',
  'tuesday',
  'wednesday',
  'thursday',
  'friday',
  'saturday',
] as const;
export type Weekday = (typeof weekdays)[number];

/** A range of days, inclusive, or a weekday. */
export type Days = { from: string; to: string } | { weekday: Weekday };

export const isWeekday = (text: string): text is Weekday => weekdays.some((one) => one === text);
export const isDay = (text: string): boolean => z.iso.date().safeParse(text).success;

/** The form of a day for a JSON Schema. */
const dayPattern = z.regexes.date.source;

/** Texts that look like a day, whether or not there is such a day. */
const dayLikePattern = /^\d{1,4}[-./]\d{1,2}[-./]\d{1,4}$/;
export const looksLikeDay = (text: string): boolean => dayLikePattern.test(text);

/** A day, a weekday or the name of a calendar, for a JSON Schema. */
export const dayOrNameJsonSchema = {
  title: 'calendar, day or weekday',
  anyOf: [{ enum: weekdays }, { pattern: dayPattern }, { not: { pattern: dayLikePattern.source } }],
};

/** What is wrong with a text that looks like a day; undefined when it is valid or does not look like one. */
export function dayFault(text: string): string | undefined {
  const why = noSuchDay(text);
  if (why !== undefined) return `is not a day: ${why}`;
  return isOtherwiseWritten(text) ? 'must be a date in the form YYYY-MM-DD, such as 2026-12-25' : undefined;
}

const dayLike = (example: string) =>
  z.iso.date({
    error: ({ input }) =>
      (typeof input === 'string' ? dayFault(input) : undefined) ?? `must be a day such as ${example}`,
  });

/** A range in a file. */
export const DayRange = z
  .strictObject({
    from: dayLike('2026-12-20').describe('First day of a range.'),
    to: dayLike('2027-01-03').describe('Last day of the range.'),
  })
  .refine(({ from, to }) => from <= to, { path: ['to'], error: 'must not be before "from"' });

const dayForms = 'must be a day such as 2026-12-25, a weekday such as sunday, or { from, to }';

/** An entry of a calendar in a file. */
export const DaysEntry = z.union(
  [
    DayRange,
    z
      .string()
      .meta({ anyOf: [{ enum: weekdays }, { pattern: dayPattern }] })
      .superRefine((text, context) => {
        if (isDay(text) || isWeekday(text)) return;
        const meant = closest(text, weekdays);
        context.addIssue({
          code: 'custom',
          message:
            dayFault(text) ?? 'must be a day such as 2026-12-25, a weekday such as sunday, or { from, to }',
          params: { suggestion: meant && `did you mean ${meant}?`, form: true },
        });
      }),
  ],
  { error: dayForms },
);

/** Converts an entry. A string that is not a weekday is a day. */
export function daysOf(entry: z.output<typeof DaysEntry>): Days {
  if (typeof entry !== 'string') return entry;
  return isWeekday(entry) ? { weekday: entry } : { from: entry, to: entry };
}
