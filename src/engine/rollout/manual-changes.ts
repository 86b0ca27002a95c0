/** What people do to a rollout: skip its pause, and begin the next batch whatever its gate says. */
import type { Principal } from '../../access/principal.ts';
import { type Batch, type By, begunBatches, type Rollout } from '../../run/rollout.ts';
import type { Run } from '../../run/run.ts';
import { type EngineDeps, policyOf } from '../deps.ts';
import { RolloutError } from '../errors.ts';
import { advance, without } from './advance.ts';

const MAX_TRIES = 10;

/** Who does it, and why. */
export interface Person {
  by: Principal;
  reason?: string;
  /** The act that asked for it: a repetition of an act that is done already changes nothing. */
  act?: string;
  /** When it was asked for. Default: now. */
  at?: number;
}

/**
 * Ends the pause of a rollout at once. The gate is asked next.
 *
 * @throws {RolloutError} when the run does not pause.
 */
export const skipPause = (deps: EngineDeps, runId: string, person: Person): Promise<void> =>
  change(
    deps,
    runId,
    'skip the pause of',
    (rollout, by) => {
      if (rollout.is !== 'pausing') return undefined;
      return { ...without(rollout), is: 'asking', batches: withBy(rollout, { pauseSkipped: by }) };
    },
    person,
  );

/**
 * Begins the next batch of a rollout at once: its pause ends, and its gate is passed, also when it is closed.
 *
 * @throws {RolloutError} when the run neither pauses nor waits at its gate.
 */
export const resumeRollout = (deps: EngineDeps, runId: string, person: Person): Promise<void> =>
  change(
    deps,
    runId,
    'resume',
    (rollout, by) => {
      if (rollout.is === 'ready' || rollout.is === 'checking' || rollout.is === 'running') return undefined;
      return { ...without(rollout), is: 'ready', batches: withBy(rollout, { resumed: by }) };
    },
    person,
  );

const withBy = (rollout: Rollout, by: { pauseSkipped?: By; resumed?: By }): Rollout['batches'] => {
  const last = begunBatches(rollout) - 1;
  const batch = rollout.batches[last];
  return batch ? rollout.batches.with(last, { ...batch, ...by }) : rollout.batches;
};

async function change(
  deps: EngineDeps,
  runId: string,
  what: string,
  next: (rollout: Rollout, by: By) => Rollout | undefined,
  person: Person,
): Promise<void> {
  const { records, clock, log } = deps;
  for (let tries = 0; tries < MAX_TRIES; tries += 1) {
    const run = await records.runs.get(runId);
    const at = clock.now();
    const { act } = person;
    const isDone = ({ pauseSkipped, resumed }: Batch) => [pauseSkipped?.act, resumed?.act].includes(act);
    if (act !== undefined && run?.rollout?.batches.some(isDone)) return;
    const rollout =
      run?.rollout && isOpen(run) ? next(run.rollout, { ...person, by: person.by.name, at }) : undefined;
    if (!run || !rollout)
      throw new RolloutError(`It is not possible to ${what} ${runId} now: ${standing(run)}.`);
    // The gate has to be answered within the time limit of a run.
    const deadline = at + policyOf(run).timeout.runMs;
    if (!(await records.batches.step(run, { from: run.step ?? 0, rollout }, { at, deadline }))) continue;
    log.info({ run: runId, by: person.by.name }, `a rollout was changed manually: ${rollout.is}`);
    return advance(deps, runId);
  }
  throw new RolloutError(`The run ${runId} changes again and again. Try again.`);
}

const isOpen = ({ status, held, ending }: Run): boolean => status === 'running' && !held && !ending;

const states: Record<Rollout['is'], string> = {
  ready: 'its next batch is about to begin',
  checking: 'its next batch is about to begin',
  running: 'a batch is active',
  pausing: 'it pauses after a batch',
  asking: 'its gate is being asked',
  closed: 'its gate is closed',
};

function standing(run: Run | undefined): string {
  if (!run) return 'there is no such run';
  if (!run.rollout) return 'it has no rollout';
  if (run.held) return 'it is held';
  if (run.ending) return 'it is ending';
  return run.status === 'running' ? states[run.rollout.is] : `its status is ${run.status}`;
}
