/** The period of a report, in many time zones and at many times. */
import { describe, expect, test } from 'vitest';
import {
  boundsOf,
  formatPeriod,
  isLanguage,
  monthOf,
  PeriodOption,
  periodOf,
} from '../../../jobs/report-dispatch/period.ts';
import { dayIn, daysAfter, startOfDay } from '../../../src/dates.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
/**
 * Zones with half-hour offsets, far east and west, with summer time in both hemispheres, and one that changes
 * clocks at midnight.
 */
const zones = [
  'UTC',
  'Europe/Berlin',
  'America/New_York',
  'Pacific/Kiritimati',
  'Pacific/Pago_Pago',
  'Asia/Kathmandu',
  'Australia/Lord_Howe',
  'America/Santiago',
  'Africa/Cairo',
  'Asia/Beirut',
];
/** Every 101 hours of three years, including a leap year: all days of a month, all hours of a day. */
const moments = Array.from(
  { length: (3 * 365 * 24) / 101 },
  (_, at) => Date.parse('2027-01-01T00:00:00Z') + at * 101 * HOUR,
);

describe.each(zones)('in %s', (zone) => {
  test('last month is the whole calendar month before the day, at any time', () => {
    for (const at of moments) {
      const { start, end } = periodOf('last_month', at, zone);
      const today = dayIn(zone, at);
      expect(start).toMatch(/-01$/);
      expect(daysAfter(end, 1)).toBe(`${today.slice(0, 8)}01`);
      expect(start.slice(0, 7)).toBe(end.slice(0, 7));
      expect(monthOf({ start, end })).toBe(end.slice(0, 7));
    }
  });

  test('last week is seven days from Monday to Sunday, and ended at most a week ago', () => {
    for (const at of moments) {
      const { start, end } = periodOf('last_week', at, zone);
      const today = dayIn(zone, at);
      expect(new Date(start).getUTCDay()).toBe(1);
      expect(daysAfter(start, 6)).toBe(end);
      expect(end < today && today <= daysAfter(end, 7)).toBe(true);
    }
  });

  test('a day begins at its first instant in the calendar, also where clocks change', () => {
    for (let day = '2027-01-01'; day < '2028-12-31'; day = daysAfter(day, 13)) {
      const start = startOfDay(zone, day);
      expect(dayIn(zone, start)).toBe(day);
      expect(dayIn(zone, start - 1)).toBe(daysAfter(day, -1));
    }
  });
});

test('on the first of a month, last month depends on the time zone', () => {
  const at = Date.parse('2026-11-01T00:30:00Z');
  expect(periodOf('last_month', at, 'Europe/Berlin')).toEqual({ start: '2026-10-01', end: '2026-10-31' });
  expect(periodOf('last_month', at, 'America/New_York')).toEqual({ start: '2026-09-01', end: '2026-09-30' });
});

test('February ends on the 29th in leap years, and December comes before January', () => {
  const last = (at: string) => periodOf('last_month', Date.parse(at), 'UTC').end;
  expect(last('2028-03-31T12:00:00Z')).toBe('2028-02-29');
  expect(last('2027-03-31T12:00:00Z')).toBe('2027-02-28');
  expect(last('2027-01-31T12:00:00Z')).toBe('2026-12-31');
});

test('a day on which clocks change has 23 or 25 hours, and a day without midnight begins later', () => {
  const lasts = (day: string, zone: string) => {
    const { from, to } = boundsOf({ start: day, end: day }, zone);
    return (to - from + 1) / HOUR;
  };
  expect(lasts('2026-03-29', 'Europe/Berlin')).toBe(23);
  expect(lasts('2026-10-25', 'Europe/Berlin')).toBe(25);
  // In Cairo, clocks change from 00:00 to 01:00.
  expect(new Date(startOfDay('Africa/Cairo', '2026-04-24')).toISOString()).toBe('2026-04-23T22:00:00.000Z');
  expect(lasts('2026-04-24', 'Africa/Cairo')).toBe(23);
  expect(boundsOf({ start: '2026-10-01', end: '2026-10-31' }, 'UTC')).toEqual({
    from: Date.parse('2026-10-01T00:00:00Z'),
    to: Date.parse('2026-11-01T00:00:00Z') - 1,
  });
});

test('a day that a time zone skipped begins when the next day begins', () => {
  // Samoa skipped from the 29th to the 31st of December 2011.
  const start = startOfDay('Pacific/Apia', '2011-12-30');
  expect(dayIn('Pacific/Apia', start)).toBe('2011-12-31');
  expect(dayIn('Pacific/Apia', start - DAY / 2)).toBe('2011-12-29');
});

test('only a whole month is shown by its name', () => {
  expect(formatPeriod({ start: '2026-10-01', end: '2026-10-31' }, 'en')).toBe('October 2026');
  expect(formatPeriod({ start: '2026-10-01', end: '2026-10-31' }, 'de')).toBe('Oktober 2026');
  expect(formatPeriod({ start: '2026-10-01', end: '2026-10-30' }, 'en')).toBe(
    'October 1, 2026 – October 30, 2026',
  );
  expect(monthOf({ start: '2026-10-01', end: '2026-11-30' })).toBeUndefined();
  expect(monthOf({ start: '2026-10-02', end: '2026-10-31' })).toBeUndefined();
});

test('a period given by two dates must have valid dates, in order', () => {
  const takes = (wish: unknown) => PeriodOption.safeParse(wish).success;
  expect(takes({ start: '2026-10-01', end: '2026-10-01' })).toBe(true);
  expect(takes({ start: '2026-10-02', end: '2026-10-01' })).toBe(false);
  expect(takes({ start: '2026-02-30', end: '2026-03-01' })).toBe(false);
  expect(takes('last_year')).toBe(false);
  const given = { start: '2026-10-05', end: '2026-10-06' };
  expect(periodOf(given, 0, 'UTC')).toEqual(given);
});

test('only languages with translations are accepted', () => {
  expect(['en', 'de', 'pt-BR', 'xx-not-a-language-at-all', ''].map(isLanguage)).toEqual([
    true,
    true,
    true,
    false,
    false,
  ]);
});
