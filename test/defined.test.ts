import { expect, test } from 'vitest';
import { defined } from '../src/defined.ts';

test('a field without a value is not there, and any other value stays', () => {
  const [reason, zero, empty, none] = [undefined, 0, '', null];
  expect(Object.entries(defined({ reason, zero, empty, none }))).toEqual([
    ['zero', 0],
    ['empty', ''],
    ['none', null],
  ]);
});
