import { expect, test } from 'vitest';
import { LoginThrottle, MAX_FAILED, MAX_FAILED_OVERALL } from '../../../src/dashboard/auth/login-throttle.ts';
import { heldClock } from '../../support/held-clock.ts';

const fail = (throttle: LoginThrottle, address: string, times: number): void => {
  for (let count = 0; count < times; count += 1) throttle.count(address);
};

test('failed attempts from one address do not lock out other addresses', () => {
  const throttle = new LoginThrottle(heldClock());

  fail(throttle, '192.0.2.1', MAX_FAILED);

  expect(throttle.waitMs('192.0.2.1')).toBe(60_000);
  expect(throttle.waitMs('192.0.2.2')).toBe(0);
});

test('all addresses of one IPv6 network count as one, and IPv4 addresses count separately, in any notation', () => {
  const throttle = new LoginThrottle(heldClock());

  fail(throttle, '2001:db8:1:2::1', MAX_FAILED);
  fail(throttle, '::ffff:192.0.2.1', MAX_FAILED);

  expect(throttle.waitMs('2001:db8:1:2:ffff::9')).toBeGreaterThan(0);
  expect(throttle.waitMs('2001:db8:1:3::1')).toBe(0);
  expect(throttle.waitMs('::ffff:192.0.2.2')).toBe(0);
});

test('while many addresses fail, each has one attempt per minute, and its first is always checked', async () => {
  const clock = heldClock();
  const throttle = new LoginThrottle(clock);

  const slowedDown = Array.from({ length: MAX_FAILED_OVERALL + 5 }, (_, at) =>
    throttle.count(`192.0.2.${at}`),
  );

  expect(slowedDown.indexOf(true)).toBe(MAX_FAILED_OVERALL);
  expect(throttle.waitMs('192.0.2.1')).toBe(60_000);
  expect(throttle.waitMs('198.51.100.7')).toBe(0);
  await clock.advance(60_000);
  expect(throttle.waitMs('192.0.2.1')).toBe(0);
});
