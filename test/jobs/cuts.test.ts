/** Effects of each kind with a worker that is lost at each step; `cuts.long.test.ts` has all effects, and kills processes. */
import { afterEach, test } from 'vitest';
import { loseAt } from '../support/lost-worker.ts';
import { clear, cutAtEachStep, sample } from './cuts.ts';

afterEach(clear);

// Only a worker that is lost at each step shows that the next one finds what became of each kind of effect.
test.each(Object.entries(sample))('%s once, whichever step its worker is lost at', (_, scenario) =>
  cutAtEachStep(scenario, loseAt),
);
