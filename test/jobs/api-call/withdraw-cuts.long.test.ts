/** A withdrawal is made once, with workers in processes of their own that are killed (SIGKILL). */
import { afterEach, test } from 'vitest';
import { dieAt } from '../../support/dying.ts';
import { clear, cutAtEachStep, withdrawals } from './withdraw-cuts.ts';

afterEach(clear);

test.each(withdrawals)(
  'the announcements of targets that are no longer selected are withdrawn once (%s)',
  (operation) => cutAtEachStep(operation, dieAt),
  240_000,
);
