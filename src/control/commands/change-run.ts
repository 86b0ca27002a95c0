/** What can be done with a run: cancel, force-end and retry it. */
import { z } from 'zod';
import type { Engine } from '../../engine/engine.ts';
import type { Run } from '../../run/run.ts';
import { OneRun, oneRun } from '../answers.ts';
import { defineCommand } from '../command.ts';
import { detach, ignoreFreeze, reason, runId, someText } from '../fields.ts';
import { needWorker, startedBy } from '../policies.ts';
import { runOf, subjectOfRun } from '../runs.ts';

export interface ChangeRunDeps {
  engine: Pick<Engine, 'cancel' | 'forceEnd' | 'retry'>;
}

const input = z.strictObject({ run: runId, reason });
const answer = { answer: OneRun, toAnswer: oneRun };

export const cancelRun = defineCommand<ChangeRunDeps>()({
  name: 'runs.cancel',
  summary: 'Cancels a run: no more targets are started, and work in progress is followed to its end.',
  role: 'operator',
  path: '/runs/{run}/cancel',
  input: input.extend({
    leave_tasks: z
      .boolean()
      .optional()
      .describe('Follow running tasks of the service to their end instead of cancelling them.'),
  }),
  subject: subjectOfRun,
  async carryOut({ run, leave_tasks }, deps) {
    await deps.engine.cancel(run, { tasks: !leave_tasks });
    return runOf(deps, run);
  },
  ...answer,
});

export const forceEndRun = defineCommand<ChangeRunDeps>()({
  name: 'runs.force-end',
  summary: 'Ends a run at once, without waiting for work in progress.',
  role: 'operator',
  path: '/runs/{run}/force-end',
  input,
  subject: subjectOfRun,
  carryOut: ({ run }, { engine }) => engine.forceEnd(run),
  ...answer,
});

export const retryRun = defineCommand<ChangeRunDeps>()({
  name: 'runs.retry',
  summary:
    'Starts a new run, with the policy as it was then, over targets of a run: those that failed and that a retry may help, or those that are named.',
  role: 'operator',
  path: '/runs/{run}/retry',
  input: input.extend({
    with_reason: someText.describe(
      'Only targets that failed or were cancelled with these reasons; `all`: every one that failed. Default: those that failed for a reason for which a retry may help without any other change.',
    ),
    target: someText.describe('Only these targets of the run, by their ids.'),
    ignore_freeze: ignoreFreeze,
    detach,
  }),
  subject: subjectOfRun,
  async carryOut({ run, with_reason, target, ignore_freeze, detach }, deps, { id, at, by }) {
    if (detach) await needWorker(deps);
    return deps.engine.retry(run, {
      which: {
        ...(with_reason && { reasons: [with_reason].flat() }),
        ...(target && { targets: [target].flat() }),
      },
      act: id,
      requestedAt: at,
      startedBy: startedBy(by),
      ...(ignore_freeze && { ignoreFreeze: true }),
    });
  },
  outcome: (run: Run) => ({ detail: `the new run is ${run.id}` }),
  ...answer,
});
