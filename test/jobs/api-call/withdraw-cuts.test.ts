/** A withdrawal is made once, with workers that are lost (`jobs/cuts.long.test.ts` kills processes). */
import { afterEach, test } from 'vitest';
import { loseAt } from '../../support/lost-worker.ts';
import { clear, cutAtEachStep, withdrawals } from './withdraw-cuts.ts';

afterEach(clear);

test.each(withdrawals)(
  'the announcements of targets that are no longer selected are withdrawn once (%s)',
  (operation) => cutAtEachStep(operation, loseAt),
);
