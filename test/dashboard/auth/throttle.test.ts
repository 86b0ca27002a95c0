import { expect, test } from 'vitest';
import {
  LoginThrottle,
  MAX_FAILED,
  MAX_FAILED_OF_NAME,
  MAX_FAILED_OVERALL,
} from '../../../src/dashboard/auth/login-throttle.ts';
import { heldClock } from '../../support/held-clock.ts';

/** Makes failed attempts, each with another name. Returns how many were checked. */
const fail = (throttle: LoginThrottle, address: string, times: number): number =>
  Array.from({ length: times }, (_, at) => throttle.begin(address, `name-${at}`)).filter((wait) => wait === 0)
    .length;

test('failed attempts from one address do not lock out other addresses', () => {
  const throttle = new LoginThrottle(heldClock());

  expect(fail(throttle, '192.0.2.1', 20)).toBe(MAX_FAILED);

  expect(throttle.begin('192.0.2.1', 'ana')).toBe(60_000);
  expect(throttle.begin('192.0.2.2', 'ana')).toBe(0);
});

test('all addresses of one IPv6 network count as one, and IPv4 addresses count separately', () => {
  const throttle = new LoginThrottle(heldClock());

  fail(throttle, '2001:db8:1:2::1', MAX_FAILED);

  expect(throttle.begin('2001:db8:1:2:ffff::9', 'ana')).toBeGreaterThan(0);
  expect(throttle.begin('2001:db8:1:3::1', 'ana')).toBe(0);
  // The same network, with its zeros written out and left out.
  fail(throttle, '2001:db8::1', MAX_FAILED);
  expect(throttle.begin('2001:0db8:0:0:ffff::9', 'ben')).toBeGreaterThan(0);
  expect(throttle.begin('2001:db8:0:1::1', 'ben')).toBe(0);
  expect(throttle.begin('192.0.2.2', 'ana')).toBe(0);
});

test('while many addresses fail, each has one attempt per minute, and its first is always checked', async () => {
  const clock = heldClock();
  const throttle = new LoginThrottle(clock);
  for (let at = 0; at < MAX_FAILED_OVERALL; at += 1) fail(throttle, `192.0.2.${at}`, 1);

  expect(throttle.begin('192.0.2.1', 'ana')).toBe(60_000);
  expect(throttle.begin('198.51.100.7', 'ana')).toBe(0);
  await clock.advance(60_000);
  expect(throttle.begin('192.0.2.1', 'ana')).toBe(0);
});

test('a name that is guessed from many addresses gives each of them one attempt per minute', () => {
  const throttle = new LoginThrottle(heldClock());
  for (let at = 0; at < MAX_FAILED_OF_NAME; at += 1) expect(throttle.begin(`192.0.2.${at}`, 'ana')).toBe(0);

  expect(throttle.begin('192.0.2.1', 'ana')).toBe(60_000);
  expect(throttle.begin('192.0.2.1', 'ben')).toBe(0);
  expect(throttle.begin('198.51.100.7', 'ana')).toBe(0);
  expect(throttle.begin('198.51.100.7', 'ana')).toBe(60_000);
});

test('500 wrong passwords for one name from 30 addresses: at most 40 are checked, however they are spread', () => {
  const throttle = new LoginThrottle(heldClock());
  const attempts = Array.from({ length: 500 }, (_, at) => throttle.begin(`192.0.2.${at % 30}`, 'ana'));

  expect(attempts.filter((wait) => wait === 0)).toHaveLength(30);
  const others = new LoginThrottle(heldClock());
  const inTurn = Array.from({ length: 500 }, (_, at) =>
    others.begin(`192.0.2.${Math.floor(at / 17)}`, 'ana'),
  );
  expect(inTurn.filter((wait) => wait === 0).length).toBeLessThanOrEqual(MAX_FAILED_OF_NAME + 30);
});

test('attempts that are made at the same time count before their end is known', () => {
  const throttle = new LoginThrottle(heldClock());
  const begun = Array.from({ length: 50 }, () => throttle.begin('192.0.2.1', 'ana'));

  expect(begun.filter((wait) => wait === 0)).toHaveLength(MAX_FAILED);
});

test('successful sign-ins do not count', () => {
  const throttle = new LoginThrottle(heldClock());
  for (let at = 0; at < 100; at += 1) {
    expect(throttle.begin('192.0.2.1', 'ana')).toBe(0);
    throttle.withdraw('192.0.2.1', 'ana');
  }
});
