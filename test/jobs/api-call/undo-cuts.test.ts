/** What a policy changed is reversed once, with workers that are lost; `undo-cuts.long.test.ts` kills processes. */
import { afterEach, test } from 'vitest';
import { loseAt } from '../../support/lost-worker.ts';
import { clear, cutAtEachStep, pairs } from './undo-cuts.ts';

afterEach(clear);

// Only lost workers show that what was changed is known after each step. The long test has the other settings.
test.each(Object.entries(pairs).filter(([name]) => name === 'tags'))(
  '%s that a policy changed are reversed, and no others, whichever step a worker is lost at',
  (_, pair) => cutAtEachStep(pair, loseAt),
);
