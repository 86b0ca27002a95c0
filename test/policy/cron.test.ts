import { expect, test } from 'vitest';
import { cronFault } from '../../src/policy/cron.ts';

test.each(['0 2 * * *', '*/15 8-18 * * 1-5', '0 0 1 */3 *', '30 4 29 2 *', '0 9 * * MON'])(
  '%s is taken',
  (expression) => {
    expect(cronFault(expression)).toBeUndefined();
  },
);

test.each([
  ['0 2 * *', 'not 4'],
  ['0 0 2 * * *', 'seconds are not among them'],
  ['@daily', 'not 1'],
  ['', 'must have five fields'],
  ['61 * * * *', 'is no cron expression we take'],
  ['0 0 31 2 *', 'never fires'],
  // One of the two libraries would take these.
  ['0 0 L-3 * *', 'is no cron expression we take'],
  ['0 22-2 * * *', 'is no cron expression we take'],
])('%j is refused: %s', (expression, words) => {
  expect(cronFault(expression)).toContain(words);
});
