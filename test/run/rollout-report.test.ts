import { expect, test } from 'vitest';
import { failuresAllowed } from '../../src/run/rollout.ts';
import { formatRollout, formatWhy } from '../../src/run/rollout-report.ts';
import type { Run } from '../../src/run/run.ts';
import { aRun } from '../support/builders.ts';

const run = aRun({
  status: 'running',
  rollout: {
    is: 'running',
    batches: [
      { takes: '2 targets', targets: 2, begunAt: 1, endedAt: 2 },
      { takes: '100%', targets: 3, begunAt: 3 },
    ],
  },
});

test('the last batch, which has no gate after it, has ended when its run has', () => {
  expect(formatRollout(run)).toContain('Batch 2 of 2 (100%): 3 targets, has begun.');
  expect(formatRollout({ ...run, status: 'partial' })).toContain('Batch 2 of 2 (100%): 3 targets, ended.');
});

test('a batch that never began is not called ended when its run has', () => {
  const [first = { takes: '2 targets', targets: 2 }] = run.rollout?.batches ?? [];
  const stopped: Run = {
    ...run,
    status: 'stopped',
    rollout: { is: 'running', batches: [first, { takes: '100%', targets: 3 }] },
  };
  expect(formatRollout(stopped)).toContain('Batch 2 of 2 (100%): 3 targets, has not begun.');
});

test('an approval names each destructive operation once', () => {
  const destructive = ['deleteStagingSite'];
  const why = 'It may call what is destructive: deleteStagingSite.';
  expect(formatWhy({ why, destructive })).toBe(why);
  expect(formatWhy({ why: 'It has 60 targets, more than 50.', destructive })).toBe(
    'It has 60 targets, more than 50. Destructive: deleteStagingSite.',
  );
});

test('a percentage of failed targets is of those that are done', () => {
  expect(failuresAllowed({ percent: 10 }, 20)).toBe(2);
  expect(failuresAllowed({ count: 3 }, 20)).toBe(3);
});
