/** An act of a person on a run that waits or pauses, cut after commands to Redis, and then repeated. */
import { expect } from 'vitest';
import type { Caretaker } from '../../src/app/caretaker.ts';
import { answerOnce } from '../../src/control/carry-out.ts';
import type { AnyCommand } from '../../src/control/command.ts';
import { isFinal } from '../../src/run/moves.ts';
import type { Run, Target } from '../../src/run/run.ts';
import type { World } from '../support/caretaker.ts';
import { type CutRun, cutEverywhere, notedBy, runOf } from '../support/rollout-cuts.ts';
import { sampleOf } from '../support/sample.ts';
import { admin, auditLines } from './acting.ts';

const request = (caretaker: Caretaker, command: AnyCommand, run: Run, input: object = {}) =>
  answerOnce(command, caretaker, { run: run.id, reason: 'checked', ...input }, admin, `key of ${run.id}`);

export interface Deciding {
  command: AnyCommand;
  policy: Parameters<typeof cutEverywhere>[1]['policy'];
  /** Default: until it waits for an approval. */
  until?: (run: Run) => boolean;
  input?: (targets: readonly Target[]) => object;
  /** Whether the run shows the act, at the cut and later. Default: whether an approval of it is decided. */
  isDecided?: (run: Run) => boolean;
  /** Whether the run has come to where it stays after the act. Default: whether it has ended. */
  isOver?: (run: Run) => boolean;
}

/**
 * Cuts the act after every fourth command to Redis, in the long suite after each; then daemons work alone, then the
 * person repeats the request. Gives the runs as they are after that.
 */
export async function decideUnderCuts(
  world: World,
  deciding: Deciding,
): Promise<{ run: Run; cut: CutRun }[]> {
  const {
    command,
    policy,
    until = ({ status }) => status === 'awaiting-approval',
    input = () => ({}),
    isDecided = ({ approvals = [] }) => approvals.some(({ decided }) => decided !== undefined),
    isOver = ({ status }) => isFinal(status),
  } = deciding;
  const cuts = await cutEverywhere(world, {
    policy,
    until,
    every: sampleOf(4, 1),
    act: (caretaker, run, targets) => request(caretaker, command, run, input(targets)),
  });
  const decided = cuts.filter(({ atCut }) => isDecided(atCut));
  expect(decided.length, 'some were cut after the decision').toBeGreaterThan(1);
  expect(decided.length, 'some were cut before the decision').toBeLessThan(cuts.length - 1);
  const notesBefore = new Map(cuts.map(({ before }) => [before.id, notedBy(world, before.policy)]));

  const working = world.caretaker.engine.work(20);
  for (const { before } of decided) await world.ended(before, isOver);
  for (const { before, atCut } of cuts) {
    if (isDecided(atCut)) continue;
    const now = await runOf(world, before.id);
    expect(now, 'what was not decided stays as it was').toMatchObject({
      status: before.status,
      counts: before.counts,
      step: before.step,
    });
    expect(notedBy(world, before.policy)).toEqual(notesBefore.get(before.id));
  }
  // Until then, a process that died is taken for one that is still at work.
  world.clock.leap(31_000);
  const answers = await Promise.allSettled(
    cuts.map(async ({ before }) =>
      request(world.caretaker, command, before, input(await world.targets(before))),
    ),
  );
  const refused = answers.flatMap((answer, at) =>
    answer.status === 'rejected' ? [`cut after ${cuts[at]?.after}: ${answer.reason}`] : [],
  );
  expect(refused, 'the repeated request succeeds').toEqual([]);
  const ends: { run: Run; cut: CutRun }[] = [];
  for (const cut of cuts) ends.push({ cut, run: await world.ended(cut.before, isOver) });
  await working.stop();
  for (const { before } of cuts) {
    const lines = (await auditLines(world)).filter(({ run }) => run === before.id);
    expect(new Set(lines.map(({ act }) => act)).size, 'it is one act').toBe(1);
    expect(lines.at(0)).toMatchObject({ result: 'requested', what: command.name, why: 'checked' });
    expect(lines.at(-1)).toMatchObject({ result: 'done', who: { name: 'anna' } });
  }
  return ends;
}

/** The targets of a run that fit, by id. */
export const idsOf = async (world: World, run: Run, which: (target: Target) => boolean) =>
  (await world.targets(run))
    .filter(which)
    .map(({ id }) => id)
    .sort();
