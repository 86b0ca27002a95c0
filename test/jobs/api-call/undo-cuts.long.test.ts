/**
 * What a policy changed is reversed once, for the settings that `undo-cuts.test.ts` leaves out: with workers in processes
 * of their own that are killed (SIGKILL), and with workers that are lost.
 */
import { afterEach, test } from 'vitest';
import { dieAt } from '../../support/dying.ts';
import { loseAt } from '../../support/lost-worker.ts';
import { clear, cutAtEachStep, pairs } from './undo-cuts.ts';

afterEach(clear);

const { 'activity logs': logs, 'update schedules': schedules } = pairs;

test('activity logs that a policy changed are reversed, and no others, whichever step a worker dies at', async () => {
  if (!logs) throw new Error('There is no such pair.');
  await cutAtEachStep(logs, dieAt);
});

test('update schedules that a policy changed are reversed, and no others, whichever step a worker is lost at', async () => {
  if (!schedules) throw new Error('There is no such pair.');
  await cutAtEachStep(schedules, loseAt);
});
