import { afterEach, test } from 'vitest';
import { clear, cutAtEachStep, ofTheRest } from './cuts.ts';

afterEach(clear);

test.each(Object.entries(ofTheRest))('%s once, at whichever step its worker dies', (_, scenario) =>
  cutAtEachStep(scenario),
);
