import { expect, test } from 'vitest';
import { duration, formatDuration, parseDuration } from '../../src/yaml/duration.ts';

test.each([
  ['30s', 30_000],
  ['10m', 600_000],
  ['2h', 7_200_000],
  ['1h30m', 5_400_000],
  ['90d', 7_776_000_000],
  ['1d12h', 129_600_000],
  ['0s', 0],
])('%s is %i milliseconds', (text, ms) => {
  expect(parseDuration(text)).toBe(ms);
});

test.each(['', '5', '5x', '1.5h', '-2h', '2h 30m', '30m2h', 'h', '99999999999d'])(
  '%j is no duration',
  (text) => {
    expect(parseDuration(text)).toBeUndefined();
  },
);

test('a duration is formatted as short as possible', () => {
  expect([0, 30_000, 5_400_000, 7_776_000_000].map(formatDuration)).toEqual(['0s', '30s', '1h30m', '90d']);
});

test('a number without a unit is rejected with the correct form, except 0', () => {
  expect(duration().parse(0)).toBe(0);
  expect(duration().safeParse(90).error?.issues[0]?.message).toContain('for 90 seconds write 90s');
});

test('for a duration that is too short, the minimum is named, and nothing shorter is suggested', () => {
  expect(duration(60_000).safeParse(0).error?.issues[0]?.message).toMatch(/of at least 1m$/);
  expect(duration(60_000).safeParse('5s').error?.issues[0]?.message).toContain('of at least 1m');
});
