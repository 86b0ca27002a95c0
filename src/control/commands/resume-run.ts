import { z } from 'zod';
import type { Engine } from '../../engine/engine.ts';
import { RunError } from '../../engine/run-commands.ts';
import { isFinal } from '../../run/moves.ts';
import type { Run } from '../../run/run.ts';
import { OneRun, oneRun } from '../answers.ts';
import { type Act, defineCommand } from '../command.ts';
import { reason, runId } from '../fields.ts';
import { runOf, subjectOfRun } from '../runs.ts';

export interface ResumeDeps {
  engine: Pick<Engine, 'nudge' | 'release' | 'skipPause' | 'resume'>;
}

/** What resuming a run does, by what it waits for. */
export const resumptions = {
  released: 'A run that is held, because Redis was restored to an older state, is released.',
  'pause-skipped': 'The pause of a rollout ends; the gate before the next batch is asked at once.',
  'gate-passed': 'The next batch of a rollout begins, whatever its gate says.',
  'rest-started': 'A new run works on what was not started in a run that its gate has stopped.',
  continued: 'A blocked run, or one that is not planned yet, is tried at once.',
} as const;
export type Resumption = keyof typeof resumptions;

export const resumptionOf = ({ status, ending, held, rollout }: Run, ignoresGate = false): Resumption => {
  if (isFinal(status)) return ending === 'gate-closed' ? 'rest-started' : 'continued';
  if (held) return 'released';
  if (status !== 'running' || ending || !rollout) return 'continued';
  if (rollout.is === 'closed' || (ignoresGate && ['pausing', 'asking'].includes(rollout.is)))
    return 'gate-passed';
  return rollout.is === 'pausing' ? 'pause-skipped' : 'continued';
};

const personOf = (why: string | undefined, { by, id, at }: Act) => ({
  by: by.principal,
  act: id,
  at,
  ...(why === undefined ? {} : { reason: why }),
});

export const resumeRun = defineCommand<ResumeDeps>()({
  name: 'runs.resume',
  summary:
    'Resumes a run that waits: releases it, ends the pause of its rollout, begins its next batch, or tries it at once.',
  role: 'operator',
  path: '/runs/{run}/resume',
  input: z.strictObject({
    run: runId,
    ignore_gate: z
      .boolean()
      .optional()
      .describe('Begin the next batch of a rollout that pauses, whatever its gate says.'),
    release: z
      .boolean()
      .optional()
      .describe('Release a held run. Targets may be changed a second time: check the account first.'),
    reason,
  }),
  subject: subjectOfRun,
  async carryOut({ run: id, ignore_gate, release, reason: why }, deps, act) {
    const { engine } = deps;
    // A repetition of the act does the same, whatever the run waits for by then.
    const { did } = await act.decide('resume', async () => ({
      did: resumptionOf(await runOf(deps, id), ignore_gate),
    }));
    // What it did after the restored state is not known, so that it is held is said before it goes on.
    if (did === 'released' && !release)
      throw new RunError(
        `The run ${id} is held, and targets may be changed a second time. Check the account, then release it: caretaker runs resume ${id} --release`,
      );
    if (did === 'gate-passed' || did === 'rest-started')
      return { did, run: await engine.resume(id, personOf(why, act)) };
    if (did === 'released') await engine.release(id);
    if (did === 'pause-skipped') await engine.skipPause(id, personOf(why, act));
    if (did === 'continued') await engine.nudge(id);
    return { did, run: await runOf(deps, id) };
  },
  outcome: ({ did, run }) => ({ detail: did === 'rest-started' ? `${did}: the run is ${run.id}` : did }),
  answer: OneRun.extend({
    did: z.enum(Object.keys(resumptions) as [Resumption, ...Resumption[]]).describe(
      Object.entries(resumptions)
        .map(([name, what]) => `\`${name}\`: ${what}`)
        .join(' '),
    ),
  }),
  toAnswer: ({ did, run }) => ({ ...oneRun(run), did }),
});
