/** A worker that is lost at each step of an effect of a saved plan: another one takes over, and each effect happens once. */
import { afterEach, test } from 'vitest';
import { clear, cutAtEachStep, ofSites, ofTheRest } from '../../jobs/cuts.ts';
import { loseAt } from '../../support/lost-worker.ts';

afterEach(clear);

test('of a saved plan, for a note', async () => {
  const scenario = ofSites['api-call leaves a note'];
  if (scenario) await cutAtEachStep({ ...scenario, applied: true }, loseAt);
});

test('of a saved plan, for a job that looks at its target before it acts', async () => {
  const scenario = ofTheRest['staging-cleanup extends a copy'];
  if (scenario) await cutAtEachStep({ ...scenario, applied: true }, loseAt);
});
