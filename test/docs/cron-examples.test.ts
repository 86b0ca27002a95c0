/** The cron expressions of docs/scheduling.md fire when the page says. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { isoDay } from '../../src/dates.ts';
import {
  nextScheduledTimes,
  previousScheduledTime,
  scheduledTimesBetween,
} from '../../src/schedule/cron-times.ts';
import { cronFault } from '../../src/yaml/cron.ts';

const page = readFileSync('docs/scheduling.md', 'utf8');
const rows = [...page.matchAll(/^\|[^|]*\|[^|]*\| `([^`]+)` \| (\d{4}[^|]*) \|$/gm)].map(
  ([, cron = '', days = '']) => [cron, days.split(', ')] as const,
);
const start = Date.parse('2026-11-22T00:00Z');

test('the page has an example of each special character', () => {
  const fields = rows.map(([cron]) => cron.split(' ').filter((_, at) => at === 2 || at === 4));
  for (const form of ['L', '15W', 'LW', 'FRI#L', 'MON#2']) expect(fields.flat()).toContain(form);
});

test.each(rows)('%s', (cron, days) => {
  const schedule = { cron: [cron], timezone: 'UTC' };
  expect(cronFault(cron)).toBeUndefined();
  const times = nextScheduledTimes(schedule, start, days.length);
  expect(times.map(isoDay)).toEqual(days);
  // The same when read backwards, as for what was missed.
  const last = times.at(-1) ?? 0;
  expect(scheduledTimesBetween(schedule, start, last)).toEqual(times);
  expect(previousScheduledTime(schedule, last + 1)).toBe(last);
});
