import { afterEach, test } from 'vitest';
import { clear, cutAtEachStep, ofSites } from './cuts.ts';

afterEach(clear);

test.each(Object.entries(ofSites))('%s once, whichever step its worker dies at', (_, scenario) =>
  cutAtEachStep(scenario),
);
