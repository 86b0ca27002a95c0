import { afterEach, test } from 'vitest';
import { clear, cutAtEachStep, ofTheRest } from './cuts.ts';

afterEach(clear);

test.each(Object.entries(ofTheRest))('%s once, whichever step its worker dies at', (_, scenario) =>
  cutAtEachStep(scenario),
);
