import { expect, test } from 'vitest';
import { failuresThatStop } from '../../src/engine/finish-run.ts';

test('a number of failures stops a run of any size', () => {
  expect([1, 5, 500].map((planned) => failuresThatStop({ count: 1 }, planned))).toEqual([1, 1, 1]);
});

test('a percentage of failures is based on the plan, and stops the run after three failures at the earliest', () => {
  expect([1, 5, 30, 31, 500].map((planned) => failuresThatStop({ percent: 10 }, planned))).toEqual([
    3, 3, 3, 4, 50,
  ]);
});
