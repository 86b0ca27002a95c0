/** Each effect of each job with a worker that is lost at each step; `cuts.long.test.ts` kills processes for one of each. */
import { afterEach, test } from 'vitest';
import { loseAt } from '../support/lost-worker.ts';
import { clear, cutAtEachStep, ofSites, ofTheRest } from './cuts.ts';

afterEach(clear);

// Only a worker that is lost at each step shows that the next one finds what became of each kind of effect. A note that
// is made once is found as every other note is, so it stands for both here.
const { 'api-call leaves a note': _, ...rest } = ofSites;

test.each(Object.entries({ ...rest, ...ofTheRest }))(
  '%s once, whichever step its worker is lost at',
  (_, scenario) => cutAtEachStep(scenario, loseAt),
);
