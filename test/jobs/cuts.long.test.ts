/**
 * Two effects with a worker in a process of its own that is killed at each step (SIGKILL): one that is found in
 * notes, and a message. Only a real process shows that the lost worker of `cuts.test.ts` is lost as a process that
 * dies. The effects that `cuts.test.ts` leaves out are here too.
 */
import { afterEach, test } from 'vitest';
import { dieAt } from '../support/dying.ts';
import { loseAt } from '../support/lost-worker.ts';
import { beyondSample, clear, cutAtEachStep, ofSites, type Scenario } from './cuts.ts';

afterEach(clear);

const killed = ['api-call leaves a note', 'report-dispatch sends a report'].map(
  (name): [string, Scenario | undefined] => [name, ofSites[name]],
);

test.each(killed)('%s once, whichever step its worker dies at', async (name, scenario) => {
  if (!scenario) throw new Error(`There is no scenario "${name}".`);
  // A process takes real time to start, in which not too much of the others' time may pass.
  await cutAtEachStep(scenario, dieAt, { speedUp: 30 });
});

test.each(Object.entries(beyondSample))('%s once, whichever step its worker is lost at', (_, scenario) =>
  cutAtEachStep(scenario, loseAt),
);
