/** What people do to the rollout of a run. */
import { z } from 'zod';
import type { Engine } from '../../engine/engine.ts';
import type { Run } from '../../run/run.ts';
import { OneRun, oneRun } from '../answers.ts';
import { type Act, defineCommand } from '../command.ts';
import { reason, runId } from '../fields.ts';
import { runOf, subjectOfRun } from '../runs.ts';

export interface RolloutDeps {
  engine: Pick<Engine, 'skipPause' | 'resume'>;
}

const input = z.strictObject({ run: runId, reason });
const answer = { answer: OneRun, toAnswer: oneRun };

const personOf = ({ reason: why }: z.output<typeof input>, { by, id, at }: Act) => ({
  by: by.principal,
  act: id,
  at,
  ...(why === undefined ? {} : { reason: why }),
});

export const skipPause = defineCommand<RolloutDeps>()({
  name: 'runs.skip-pause',
  summary: 'Ends the pause of a rollout; the gate before the next batch is asked at once.',
  role: 'operator',
  path: '/runs/{run}/skip-pause',
  input,
  subject: subjectOfRun,
  async carryOut(given, deps, act) {
    await deps.engine.skipPause(given.run, personOf(given, act));
    return runOf(deps, given.run);
  },
  ...answer,
});

export const resumeRollout = defineCommand<RolloutDeps>()({
  name: 'runs.resume',
  summary:
    'Begins the next batch of a rollout whatever its gate says; for a run that its gate has stopped, starts a new run over the rest.',
  role: 'operator',
  path: '/runs/{run}/resume',
  input,
  subject: subjectOfRun,
  carryOut: (given, { engine }, act) => engine.resume(given.run, personOf(given, act)),
  outcome: (run: Run) => (run.retryOf === undefined ? {} : { detail: `the run is ${run.id}` }),
  ...answer,
});
