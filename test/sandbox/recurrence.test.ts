import { describe, expect, test } from 'vitest';
import type { Recurrence } from '../../src/sandbox/model/tasks.ts';
import { nextOccurrence } from '../../src/sandbox/world/time.ts';

/** The next occurrences, one after the other, as days and hours. */
function occurrences(recurrence: Recurrence, startedAt: string, after: string, count: number): string[] {
  let at = Date.parse(after);
  return Array.from({ length: count }, () => {
    at = nextOccurrence(recurrence, Date.parse(startedAt), at);
    return new Date(at).toISOString().slice(0, 16);
  });
}

describe('a recurrence', () => {
  test('is first due when it starts, even if that is exactly now', () => {
    const start = '2026-11-21T12:00:00Z';
    expect(occurrences('daily', start, '2026-11-21T11:59:59.999Z', 2)).toEqual([
      '2026-11-21T12:00',
      '2026-11-22T12:00',
    ]);
    expect(occurrences('daily', start, start, 1)).toEqual(['2026-11-22T12:00']);
    expect(occurrences('biweekly', '2027-05-01T00:00:00Z', start, 2)).toEqual([
      '2027-05-01T00:00',
      '2027-05-15T00:00',
    ]);
  });

  test('on a date that a month lacks falls on its last day, and returns to the date', () => {
    const start = '2027-01-31T08:30:00Z';
    expect(occurrences('monthly_on_date', start, start, 3)).toEqual([
      '2027-02-28T08:30',
      '2027-03-31T08:30',
      '2027-04-30T08:30',
    ]);
  });

  test('on a weekday of the month keeps the week, and takes the last where there is no fifth', () => {
    // The fifth Sunday of November 2026.
    const start = '2026-11-29T08:00:00Z';
    expect(occurrences('monthly_on_week', start, start, 3)).toEqual([
      '2026-12-27T08:00',
      '2027-01-31T08:00',
      '2027-02-28T08:00',
    ]);
  });

  test('on the last day knows leap years', () => {
    const start = '2028-01-10T23:59:00Z';
    expect(occurrences('monthly_last_day', start, start, 3)).toEqual([
      '2028-01-31T23:59',
      '2028-02-29T23:59',
      '2028-03-31T23:59',
    ]);
  });
});
