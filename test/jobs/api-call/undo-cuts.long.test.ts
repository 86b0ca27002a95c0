/**
 * What a policy changed is reversed once, with workers in processes of their own that are killed (SIGKILL): of the
 * setting that `undo-cuts.test.ts` leaves out.
 */
import { afterEach, expect, test } from 'vitest';
import { dieAt } from '../../support/dying.ts';
import { clear, cutAtEachStep, pairs } from './undo-cuts.ts';

afterEach(clear);

test('activity logs that a policy changed are reversed, and no others, whichever step a worker dies at', async () => {
  const { 'activity logs': pair } = pairs;
  expect(pair).toBeDefined();
  if (pair) await cutAtEachStep(pair, dieAt);
}, 240_000);
