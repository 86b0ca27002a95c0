/** Each effect of each job with a worker that is lost at each step; `cuts.long.test.ts` kills processes there. */
import { afterEach, test } from 'vitest';
import { loseAt } from '../support/lost-worker.ts';
import { clear, cutAtEachStep, ofSites, ofTheRest } from './cuts.ts';

afterEach(clear);

test.each(Object.entries({ ...ofSites, ...ofTheRest }))(
  '%s once, whichever step its worker is lost at',
  (_, scenario) => cutAtEachStep(scenario, loseAt),
);
