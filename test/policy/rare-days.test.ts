import { expect, test } from 'vitest';
import { rareDays } from '../../src/policy/likely-mistakes.ts';

const both = 'The day of month and the day of week both have to match, on about';
test.each([
  ['0 2 31 * *', 'Day 31 exists in 7 months of 12.'],
  ['0 2 30,31 * *', 'Day 31 exists in 7 months of 12.'],
  ['0 2 15,30 * *', 'Day 30 exists in 11 months of 12.'],
  ['0 2 31W */2 *', 'Day 31 exists in 4 months of 6.'],
  ['0 2 29 * *', 'Day 29 exists in 11 months of 12, and in February of leap years.'],
  ['0 2 29 2 *', 'Day 29 exists in 0 months of 1, and in February of leap years.'],
  ['0 2 1-7 */2 MON', `${both} 6 days a year.`],
  ['0 2 1-7 * MON', `${both} 12 days a year.`],
  ['0 2 13 * 5', `${both} 2 days a year.`],
  ['0 2 1 1 SUN', `${both} one day in 7 years.`],
  ['0 2 */2 * 1-5', `${both} 133 days a year.`],
])('%s: %s', (cron, message) => {
  expect(rareDays(cron)?.message).toBe(message);
});

test.each([
  '0 2 * * *',
  '0 2 31 1,3,5 *',
  '0 2 28 * *',
  '0 2 L * *',
  '0 2 28-31 * *',
  '0 2 ? * MON',
  '0 2 1 * ?',
])('%s needs no words', (cron) => {
  expect(rareDays(cron)).toBeUndefined();
});
