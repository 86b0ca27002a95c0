/**
 * Times as people write them in options, fields of forms and addresses: a day, a time, a word, and a duration before or
 * after now. Everything that takes a time takes these; the time zone of the machine has no influence.
 */
import { daysAfter, firstAt, isoDay, noSuchDay, timezoneFault } from '../dates.ts';
import { parseDuration } from './duration.ts';

/** A day or a time, without a zone or with an offset. */
const TIME = /^\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(Z|[+-]\d{2}:?\d{2})?)?$/i;
/** The name of a zone after it: `2026-12-01 08:00 Europe/Berlin`. */
const IN_ZONE = /^(.*\S)\s+([A-Za-z][\w+-]*(?:\/[\w+-]+)*)$/;

/** Days by their distance from today. */
const days: Readonly<Record<string, number>> = { yesterday: -1, today: 0, tomorrow: 1 };

/**
 * The first instant of what a text names: `2026-12-01`, `2026-12-01T08:00Z`, `tomorrow 08:00`, `2026-12-01 08:00
 * Europe/Berlin`. In UTC without a zone of its own, as in all output. Undefined when the text is none.
 */
export function parseTime(text: string, now: number): number | undefined {
  const [, before = '', zone = ''] = IN_ZONE.exec(text.trim()) ?? [];
  const isZoned = zone !== '' && timezoneFault(zone) === undefined;
  const [whole, offset] = TIME.exec(withDay(isZoned ? before : text.trim(), now)) ?? [];
  // `Date` would turn February 30 into a day of March.
  if (whole === undefined || noSuchDay(whole) !== undefined) return undefined;
  if (isZoned && offset !== undefined) return undefined;
  const at = Date.parse(whole.length > 10 && offset === undefined ? `${whole}Z` : whole);
  if (Number.isNaN(at)) return undefined;
  return isZoned ? firstAt(zone, at) : at;
}

/** The same, or a duration before now: `3d`, `12h ago`. */
export function parsePast(text: string, now: number): number | undefined {
  const ago = parseDuration(text.trim().replace(/\s*ago$/i, ''));
  return ago === undefined ? parseTime(text, now) : now - ago;
}

/** The same, or a duration from now. */
export function parseFuture(text: string, now: number): number | undefined {
  const ms = parseDuration(text.trim());
  return ms === undefined ? parseTime(text, now) : now + ms;
}

/** Whether the text is a day, without a time: then its end is a day later than its start. */
export const isWholeDay = (text: string): boolean =>
  /^(?:\d{4}-\d{2}-\d{2}|yesterday|today|tomorrow)$/i.test(text.trim());

/** `tomorrow 08:00` as `2026-11-22 08:00`; any other text as it is. */
function withDay(text: string, now: number): string {
  const [word = '', ...rest] = text.split(' ');
  const distance = days[word.toLowerCase()];
  return distance === undefined ? text : [daysAfter(isoDay(now), distance), ...rest].join(' ');
}
