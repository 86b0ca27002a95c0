import { expect, test } from 'vitest';
import { cronInWords, scheduleInWords } from '../../src/schedule/in-words.ts';

test.each([
  ['0 2 * * *', 'every day at 02:00'],
  ['30 6,18 * * *', 'every day at 06:30 and 18:30'],
  ['*/15 * * * *', 'every 15 minutes'],
  ['* * * * *', 'every minute'],
  ['5 * * * *', 'every hour at :05'],
  ['0 */6 * * *', 'every 6 hours'],
  ['*/15 2-6 * * 1-5', 'every 15 minutes from 02:00 to 06:59, Mon to Fri'],
  ['30 22 * * 0,6', 'every Sun and Sat at 22:30'],
  ['0 9 * * MON', 'every Mon at 09:00'],
  ['0 3 1,15 * *', 'day 1 and 15 of each month at 03:00'],
  ['0 3 L * *', 'the last day of each month at 03:00'],
])('%s is %s', (expression, words) => {
  expect(cronInWords(expression)).toBe(words);
});

test.each(['0 2 * 3 *', '1-5 2 * * *', '0 2 * * FRI#2', '0 2 13 * 5', '0 2-4,9 * * *', '0 0 2 * * *'])(
  '%s has no words, so it is shown as it is',
  (expression) => {
    expect(cronInWords(expression)).toBeUndefined();
  },
);

test('several expressions are joined, and those without words are written as they are', () => {
  expect(scheduleInWords({ cron: ['0 2 * * 1-5', '0 2 * 3 6'] })).toBe('Mon to Fri at 02:00; 0 2 * 3 6');
  expect(scheduleInWords({ cron: ['0 2 * 3 *'] })).toBeUndefined();
});
