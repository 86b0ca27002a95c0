/** Every list with one operation on its items; `every-list.long.test.ts` has all of them. */
import { expect, test } from 'vitest';
import { describeEveryList, withoutList } from './every-list.ts';

test('every operation that changes something applies to some list, or to the whole account', () => {
  expect(withoutList()).toEqual([]);
});

describeEveryList((fitting) => fitting.slice(0, 1));
