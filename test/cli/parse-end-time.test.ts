import { expect, test } from 'vitest';
import { parseEndTime } from '../../src/cli/parse-end-time.ts';
import { sinceOf } from '../../src/cli/parse-since.ts';

const now = Date.parse('2026-11-26T10:00:00Z');

test.each([
  ['yesterday', '2026-11-25T00:00:00Z'],
  ['today 08:00', '2026-11-26T08:00:00Z'],
  ['Tomorrow', '2026-11-27T00:00:00Z'],
  ['tomorrow 08:00+02:00', '2026-11-27T06:00:00Z'],
  ['2026-12-01', '2026-12-01T00:00:00Z'],
])('%s is a time wherever a command takes one: %s', (text, time) => {
  expect(parseEndTime(text, now)).toBe(Date.parse(time));
  expect(sinceOf(text, now)).toBe(Date.parse(time));
});

test.each(['tomorrow 25:00', 'tomorrow morning', 'tonight', '2026-02-30', ''])('%s is no time', (text) => {
  expect(parseEndTime(text, now)).toBeUndefined();
});
