import { expect, test } from 'vitest';
import { toReport } from '../../src/run/report.ts';
import { activeStepOf, stepNamesOf } from '../../src/run/steps.ts';
import { aPolicyOf, aRun, aTarget } from '../support/builders.ts';

const step = (name: string) => ({ name, job: 'site-sync', options: {} });
const run = aRun({ policyJson: JSON.stringify(aPolicyOf([step('begin'), step('sync'), step('end')])) });
const begun = { reason: 'done', detail: 'Noted.', at: 1_000 } as const;

test('a report shows what became of each step of a target', () => {
  const failed = aTarget('a', {
    state: 'ended',
    startedAt: 500,
    outcome: 'failed',
    reason: 'task-failed',
    detail: 'Step 2 (sync): disk full',
    steps: [begun],
  });

  expect(toReport(run, [failed]).targets[0]?.steps).toEqual([
    {
      step: 'begin',
      state: 'succeeded',
      reason: 'done',
      detail: 'Noted.',
      task_id: null,
      finished_at: '1970-01-01T00:00:01.000Z',
    },
    expect.objectContaining({ step: 'sync', state: 'failed', reason: 'task-failed' }),
    { step: 'end', state: 'not-started', reason: null, detail: null, task_id: null, finished_at: null },
  ]);
});

test('the step that a target is at is known from its start to its end', () => {
  const names = stepNamesOf(run);
  const ended = {
    state: 'ended',
    outcome: 'succeeded',
    reason: 'done',
    steps: [begun, begun, begun],
  } as const;

  expect(activeStepOf(names, aTarget('a'))).toBeUndefined();
  expect(activeStepOf(names, aTarget('a', { state: 'acting', startedAt: 500 }))).toBe('Step 1 (begin)');
  expect(activeStepOf(names, aTarget('a', { state: 'following', startedAt: 500, steps: [begun] }))).toBe(
    'Step 2 (sync)',
  );
  expect(activeStepOf(names, aTarget('a', { ...ended, steps: [...ended.steps] }))).toBeUndefined();
});

test('a target that ended when the run was planned was at no step', () => {
  const target = aTarget('a', { state: 'ended', outcome: 'skipped', reason: 'not-eligible' });
  const states = toReport(run, [target]).targets[0]?.steps?.map(({ state }) => state);
  expect(states).toEqual(['not-started', 'not-started', 'not-started']);
});

test('a run of a policy with a single job has no steps', () => {
  expect(stepNamesOf(aRun())).toEqual([]);
  expect(toReport(aRun(), [aTarget('a')]).targets[0]).not.toHaveProperty('steps');
});
