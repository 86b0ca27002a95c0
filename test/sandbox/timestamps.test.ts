import { expect, test } from 'vitest';
import { timestampsOf } from '../../src/sandbox/list.ts';

const berlin = (value: string) => {
  const { first, last } = timestampsOf(value, 'Europe/Berlin');
  return [first, last].map((at) => new Date(at).toISOString());
};

test('a timestamp with an offset is the same in every timezone', () => {
  expect(berlin('2026-07-01T12:00:00Z')).toEqual(['2026-07-01T12:00:00.000Z', '2026-07-01T12:00:00.000Z']);
  expect(berlin('2026-07-01T12:00:00-05:00')[0]).toBe('2026-07-01T17:00:00.000Z');
});

test('a local time is read in the timezone, in summer and in winter', () => {
  expect(berlin('2026-07-01T12:00:00')[0]).toBe('2026-07-01T10:00:00.000Z');
  expect(berlin('2026-12-01T12:00:00')[0]).toBe('2026-12-01T11:00:00.000Z');
  expect(berlin('2026-12-01T12:00')[0]).toBe('2026-12-01T11:00:00.000Z');
});

test('a day has its length in the timezone, also when clocks change', () => {
  expect(berlin('2026-11-21')).toEqual(['2026-11-20T23:00:00.000Z', '2026-11-21T22:59:59.999Z']);
  // 23 hours in March, 25 in October.
  expect(berlin('2026-03-29')).toEqual(['2026-03-28T23:00:00.000Z', '2026-03-29T21:59:59.999Z']);
  expect(berlin('2026-10-25')).toEqual(['2026-10-24T22:00:00.000Z', '2026-10-25T22:59:59.999Z']);
});
