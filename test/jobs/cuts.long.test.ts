/** Each effect of each job with a worker in a process of its own that is killed at each step (SIGKILL). */
import { afterEach, expect, test } from 'vitest';
import { dieAt } from '../support/dying.ts';
import { clear, cutAtEachStep, ofSites, ofTheRest } from './cuts.ts';

afterEach(clear);

const scenarios = { ...ofSites, ...ofTheRest };

test.each(Object.entries(scenarios))('%s once, whichever step its worker dies at', (_, scenario) =>
  cutAtEachStep(scenario, dieAt),
);

test.each(['api-call leaves a note', 'staging-cleanup extends a copy'])(
  '%s once in a run that applies a saved plan, whichever step its worker dies at',
  async (name) => {
    const { [name]: scenario } = scenarios;
    expect(scenario).toBeDefined();
    if (scenario) await cutAtEachStep({ ...scenario, applied: true }, dieAt);
  },
);
