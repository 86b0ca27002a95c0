import { expect, test } from 'vitest';
import { MOST_TRIES, Tries } from '../../../src/dashboard/access/tries.ts';
import { heldClock } from '../../support/held-clock.ts';

const exhaust = (tries: Tries, address: string) => {
  for (let count = 0; count < MOST_TRIES; count += 1) tries.count(address);
};

test('one address that guesses does not keep others out', () => {
  const tries = new Tries(heldClock());

  exhaust(tries, '192.0.2.1');

  expect(tries.waitMs('192.0.2.1')).toBe(60_000);
  expect(tries.waitMs('192.0.2.2')).toBe(0);
});

test('all addresses of one IPv6 network count as one, and those of IPv4 do not, however they are written', () => {
  const tries = new Tries(heldClock());

  exhaust(tries, '2001:db8:1:2::1');
  exhaust(tries, '::ffff:192.0.2.1');

  expect(tries.waitMs('2001:db8:1:2:ffff::9')).toBeGreaterThan(0);
  expect(tries.waitMs('2001:db8:1:3::1')).toBe(0);
  expect(tries.waitMs('::ffff:192.0.2.2')).toBe(0);
});
