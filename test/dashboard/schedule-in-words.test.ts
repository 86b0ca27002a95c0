import { expect, test } from 'vitest';
import { cronInWords, scheduleInWords } from '../../src/dashboard/components/policy-schedule.tsx';

test.each([
  ['0 2 * * *', 'at 02:00, every day'],
  ['30 6,18 * * *', 'at 06:30 and 18:30, every day'],
  ['*/15 * * * *', 'every 15 minutes'],
  ['0 8,16 * * mon-fri', 'at 08:00 and 16:00, Monday through Friday'],
  ['0 2 * * 7', 'at 02:00, only on Sunday'],
  ['0 9 * * mon#1', 'at 09:00, on the first Monday of the month'],
  ['0 0 L * *', 'at 00:00, on the last day of the month'],
  ['15 * * * *', 'at 15 minutes past the hour'],
  ['0 3 * 1-3 sun', 'at 03:00, only on Sunday, January through March'],
])('%s is "%s"', (expression, words) => {
  expect(cronInWords(expression)).toBe(words);
});

test('a day of the month and a day of the week both have to match', () => {
  expect(cronInWords('0 0 13 * 5')).toBe('at 00:00, on day 13 of the month, only on Friday');
});

test('several expressions are joined, and one without words is written as it is', () => {
  expect(scheduleInWords({ cron: ['0 2 * * 1-5', 'no cron'] })).toBe(
    'at 02:00, Monday through Friday; no cron',
  );
});
