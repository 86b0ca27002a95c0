import { expect, test } from 'vitest';
import { assignedTime, DayWindow, isSameTime } from '../../../jobs/site-sync/job.ts';

const ids = Array.from({ length: 500 }, (_, at) => `site-${at}`);
const night = { from: '01:00', to: '05:00' };

test('an id is always assigned the same minute of a window, and many ids are spread over all of it', () => {
  const places = ids.map((id) => assignedTime(night, id));
  expect(ids.map((id) => assignedTime(night, id))).toEqual(places);
  expect(places.every((time) => time >= '01:00Z' && time < '05:00Z')).toBe(true);
  for (const hour of ['01', '02', '03', '04']) {
    expect(places.filter((time) => time.startsWith(hour)).length).toBeGreaterThan(80);
  }
});

test('a window whose end is earlier than its start goes over midnight', () => {
  const places = ids.map((id) => assignedTime({ from: '23:00Z', to: '01:00Z' }, id));
  expect(places.every((time) => time >= '23:00Z' || time < '01:00Z')).toBe(true);
  expect(new Set(places.map((time) => time.slice(0, 2)))).toEqual(new Set(['23', '00']));
});

test.each([
  ['02:30Z', true],
  ['02:30:00Z', true],
  ['02:31Z', false],
  ['soon', false],
  [null, false],
])('comparing 02:30Z with %s gives %s', (other, same) => {
  expect(isSameTime('02:30Z', other)).toBe(same);
});

test.each([
  [{ from: '01:00', to: '01:00Z' }, 'the window would be empty'],
  [{ from: '25:00', to: '01:00' }, 'must be a time of day in UTC such as 01:00'],
])('%j is rejected', (window, why) => {
  expect(DayWindow.safeParse(window).error?.message).toContain(why);
});
