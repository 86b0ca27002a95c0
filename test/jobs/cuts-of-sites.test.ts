import { afterEach, test } from 'vitest';
import { clear, cutAtEachStep, ofSites } from './cuts.ts';

afterEach(clear);

test.each(Object.entries(ofSites))('%s once, at whichever step its worker dies', (_, scenario) =>
  cutAtEachStep(scenario),
);
