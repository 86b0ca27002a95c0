/**
 * Properties with many cases: `npm test` tries a small fixed sample of them, `npm run test:long` all. A file
 * `x.long.test.ts` that imports `x.test.ts` runs its tests again, with all cases.
 */
import { expect } from 'vitest';

/** A few cases, or their number, in an ordinary test file, and all in a long one. */
export const sampleOf = <T>(few: T, all: T): T =>
  expect.getState().testPath?.endsWith('.long.test.ts') ? all : few;
