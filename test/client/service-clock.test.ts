/** How the service's clock is measured from its answers, and how certain a time is. */
import { describe, expect, test } from 'vitest';
import { ServiceClock } from '../../src/client/service-clock.ts';
import { orderOf, timeOf } from '../../src/clock.ts';

const NOON = Date.parse('2026-11-21T12:00:00Z');
const MINUTE = 60_000;
const date = (ms: number) => new Date(ms).toUTCString();
/** An answer that took 40 ms and was made in the middle of that time. */
const answered = (at: number) => ({ sentAt: at - 20, receivedAt: at + 20 });
const width = ({ earliest, latest }: { earliest: number; latest: number }) => latest - earliest;

describe.each([-7 * MINUTE, 0, 7 * MINUTE])('a service whose clock is %i ms ahead of ours', (ahead) => {
  test('is known to about a second and a half each way by one answer, and closer by many', () => {
    const clock = new ServiceClock();
    clock.learnDate(date(NOON + ahead), undefined, answered(NOON));
    const first = clock.serviceTime(NOON);
    expect(width(first)).toBeLessThan(3_100);

    for (let at = NOON; at < NOON + MINUTE; at += 990)
      clock.learnDate(date(at + ahead), undefined, answered(at));
    const later = clock.serviceTime(NOON + MINUTE);

    expect(width(later)).toBeLessThan(2_100);
    for (const [{ earliest, latest }, at] of [
      [first, NOON],
      [later, NOON + MINUTE],
    ] as const) {
      expect(earliest).toBeLessThanOrEqual(at + ahead);
      expect(latest).toBeGreaterThanOrEqual(at + ahead);
    }
  });

  test('is known by the creation times of new items, where it sends no Date', () => {
    const clock = new ServiceClock();
    expect(clock.isMeasured).toBe(false);
    clock.learnCreation(timeOf(new Date(NOON + ahead + 1).toISOString()), answered(NOON));

    expect(clock.isMeasured).toBe(true);
    const { earliest, latest } = clock.serviceTime(NOON);
    expect(earliest).toBeLessThanOrEqual(NOON + ahead);
    expect(latest).toBeGreaterThanOrEqual(NOON + ahead);
    expect(latest - earliest).toBeLessThan(2_100);
  });
});

test('a clock that was set is known again by the next answer', () => {
  const clock = new ServiceClock();
  clock.learnDate(date(NOON), undefined, answered(NOON));
  clock.learnDate(date(NOON + 10 * MINUTE), undefined, answered(NOON + 1_000));

  expect(clock.serviceTime(NOON).earliest).toBeGreaterThan(NOON + 9 * MINUTE);
});

test('where Date and creation times disagree, as behind a proxy, the bounds cover both', () => {
  const clock = new ServiceClock();
  clock.learnDate(date(NOON), undefined, answered(NOON));
  clock.learnCreation(timeOf(new Date(NOON - 5 * MINUTE + 1).toISOString()), answered(NOON));

  const { earliest, latest } = clock.serviceTime(NOON);
  expect(earliest).toBeLessThanOrEqual(NOON - 5 * MINUTE);
  expect(latest).toBeGreaterThanOrEqual(NOON);
});

test.each([
  ['without a Date', undefined, undefined],
  ['with an empty Date', '', undefined],
  ['with a Date that is no time', 'yesterday', undefined],
  // JavaScript reads a time in each of them.
  ['whose Date is a number', '-1', undefined],
  ['whose Date is a year', '2026', undefined],
  ['whose Date has no time zone', 'Sat, 21 Nov 2026 11:50:00', undefined],
  ['with two Dates in one header', `${date(NOON)}, ${date(NOON)}`, undefined],
  ['from a cache', date(NOON - 10 * MINUTE), '600'],
  ['from a cache that does not say how old it is', date(NOON - 10 * MINUTE), 'unknown'],
])('an answer %s shows nothing about the clock', (_, sent, age) => {
  const clock = new ServiceClock();
  clock.learnDate(sent, age, answered(NOON));
  expect(clock.isMeasured).toBe(false);
  expect(width(clock.serviceTime(NOON))).toBe(2 * 86_400_000);

  clock.learnDate(date(NOON), undefined, answered(NOON));
  const before = clock.serviceTime(NOON);
  clock.learnDate(sent, age, answered(NOON));
  expect(clock.serviceTime(NOON)).toEqual(before);
});

test('an answer during which our own clock went back shows nothing about the clock', () => {
  const clock = new ServiceClock();
  clock.learnDate(date(NOON), undefined, { sentAt: NOON, receivedAt: NOON - 10 * MINUTE });
  expect(clock.isMeasured).toBe(false);
});

describe('a timestamp', () => {
  const at = (time: string) => timeOf(time) ?? { earliest: Number.NaN, latest: Number.NaN };

  test('without milliseconds may be up to a second later', () => {
    expect(timeOf('2026-11-21T12:00:00Z')).toEqual({ earliest: NOON, latest: NOON + 999 });
    expect(timeOf('2026-11-21T12:00:00.250Z')).toEqual({ earliest: NOON + 250, latest: NOON + 250 });
    expect(timeOf('soon')).toBeUndefined();
    expect(timeOf(null)).toBeUndefined();
  });

  test('is before or after another only when format and clock leave no doubt', () => {
    const noon = { earliest: NOON, latest: NOON + 100 };
    expect(orderOf(at('2026-11-21T11:59:59.999Z'), noon)).toBe('before');
    expect(orderOf(at('2026-11-21T11:59:59Z'), noon)).toBe('before');
    expect(orderOf(at('2026-11-21T12:00:00Z'), noon)).toBe('uncertain');
    expect(orderOf(at('2026-11-21T12:00:00.050Z'), noon)).toBe('uncertain');
    expect(orderOf(at('2026-11-21T12:00:00.100Z'), noon)).toBe('after');
  });
});
