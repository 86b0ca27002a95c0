import { expect, test } from 'vitest';
import { months } from './month.ts';

test('in a simulated month, rings keep a bad version from nearly all sites that one schedule would break', () => {
  expect(months(1, true, 60).broken).toBeLessThan(months(1, false, 60).broken / 2);
});
