/**
 * What a policy changed is reversed once, with workers in processes of their own that are killed (SIGKILL): of the
 * settings that `undo-cuts.test.ts` leaves out.
 */
import { afterEach, test } from 'vitest';
import { dieAt } from '../../support/dying.ts';
import { clear, cutAtEachStep, pairs } from './undo-cuts.ts';

afterEach(clear);

test.each(Object.entries(pairs).filter(([name]) => name !== 'tags'))(
  '%s that a policy changed are reversed, and no others, whichever step a worker dies at',
  (_, pair) => cutAtEachStep(pair, dieAt),
  240_000,
);
