/**
 * Properties with many cases: `npm test` tries a small fixed sample of them, `npm run test:long` all. A file
 * `x.long.test.ts` that imports `x.test.ts` runs its tests again, with all cases.
 */
import { expect } from 'vitest';

/** The number of cases in an ordinary test file, or the number of all in a long one. */
export const sampleOf = (few: number, all: number): number =>
  expect.getState().testPath?.endsWith('.long.test.ts') ? all : few;
