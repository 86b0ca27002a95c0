/**
 * Which days and time zones there are: what a person wrote is checked against the calendar and the time zone
 * database.
 */
import { suggestionFor } from './suggest.ts';

const monthNames = new Intl.DateTimeFormat('en', { month: 'long', timeZone: 'UTC' });

/** Why a text written as a day, or a time that begins with one, names none: `February 2026 has 28 days`. */
export function noSuchDay(text: string): string | undefined {
  const [, year = '', month = '', day = ''] = /^(\d{4})-(\d{2})-(\d{2})(?!\d)/.exec(text) ?? [];
  if (year === '') return undefined;
  if (Number(month) < 1 || Number(month) > 12) return `there is no month ${month}`;
  const last = new Date(Date.UTC(Number(year), Number(month), 0));
  const days = last.getUTCDate();
  if (Number(day) >= 1 && Number(day) <= days) return undefined;
  return `${monthNames.format(last)} ${year} has ${days} days`;
}

/** A day in another order or with other marks than ours: `25.12.2026`, `2026/12/25`, `2026-2-3`. */
export const isOtherwiseWritten = (text: string): boolean =>
  /^\d{1,4}[-./]\d{1,2}[-./]\d{1,4}$/.test(text) && !/^\d{4}-\d{2}-\d{2}$/.test(text);

/** Those that were found to exist: to ask takes a while, and many policies live in the same zone. */
const known = new Set<string>();

/** What may be meant by the name of a zone that there is not: also one that names the city alone. */
export function zoneHint(text: string): string | undefined {
  const all = Intl.supportedValuesOf('timeZone');
  const city = text.trim().toLowerCase().replaceAll(' ', '_');
  const meant = all.find((zone) => zone.toLowerCase().endsWith(`/${city}`));
  return meant === undefined ? suggestionFor(text, all) : `did you mean ${meant}?`;
}

/** A few words about what is wrong with the name of a time zone; nothing when it exists. */
export function timezoneFault(timezone: string): string | undefined {
  if (known.has(timezone)) return undefined;
  try {
    // Offsets such as +02:00 are taken by newer runtimes alone, and forget about daylight saving time.
    if (!/^[A-Za-z]/.test(timezone)) throw new RangeError('not a name');
    new Intl.DateTimeFormat('en', { timeZone: timezone });
    known.add(timezone);
    return undefined;
  } catch {
    return 'must be the name of a time zone such as Europe/Berlin';
  }
}
