import { expect, test } from 'vitest';
import { pastTime } from '../../src/control/fields.ts';
import { readRunQuery } from '../../src/dashboard/queries/list-query.ts';
import { parseFuture, parsePast, parseTime } from '../../src/yaml/written-time.ts';

const now = Date.parse('2026-11-26T10:00:00Z');

test.each([
  ['yesterday', '2026-11-25T00:00:00Z'],
  ['today 08:00', '2026-11-26T08:00:00Z'],
  ['Tomorrow', '2026-11-27T00:00:00Z'],
  ['tomorrow 08:00+02:00', '2026-11-27T06:00:00Z'],
  ['2026-12-01', '2026-12-01T00:00:00Z'],
  ['2026-12-01 08:00', '2026-12-01T08:00:00Z'],
  ['2026-12-01t08:00z', '2026-12-01T08:00:00Z'],
  ['2026-12-01 08:00 Europe/Berlin', '2026-12-01T07:00:00Z'],
  ['tomorrow Europe/Berlin', '2026-11-26T23:00:00Z'],
  ['tomorrow 08:00 UTC', '2026-11-27T08:00:00Z'],
])('%s is a time wherever a command takes one: %s', (text, time) => {
  expect(parseTime(text, now)).toBe(Date.parse(time));
  // The page and the HTTP API take the same.
  const { since } = readRunQuery((name) => (name === 'from' ? text : undefined), now).filter;
  expect(Date.parse(since ?? '')).toBe(Date.parse(time));
  expect(pastTime.parse(text)?.(now)).toBe(Date.parse(time));
});

test.each([
  'tomorrow 25:00',
  'tomorrow morning',
  'tonight',
  '2026-02-30',
  '2026',
  '2026-12-01T08:00Z Europe/Berlin',
  '2026-12-01 08:00 CEST',
  '',
])('%s is no time', (text) => {
  expect(parseTime(text, now)).toBeUndefined();
  expect(pastTime.safeParse(text).success).toBe(false);
});

test('a duration is before now for what is past, and after it for what ends', () => {
  expect([parsePast('90m ago', now), parsePast('90m', now), parseFuture('90m', now)]).toEqual(
    [-90, -90, 90].map((minutes) => now + minutes * 60_000),
  );
});
