/**
 * Acts of people on runs that wait or pause, cut after every fourth command to Redis: what was decided is carried out by
 * the daemons alone, what was not decided changes nothing, and the repeated request has the effect of one. The long suite
 * cuts after each command, and has the other acts.
 */
import { expect, test } from 'vitest';
import { approveRun, rejectRun } from '../../src/control/commands/approve-run.ts';
import { isFinal } from '../../src/run/moves.ts';
import { lastApproval } from '../../src/run/rollout.ts';
import type { Run } from '../../src/run/run.ts';
import { anApproval, aRollout, aWorld, notedBy } from '../support/rollout-cuts.ts';
import { decideUnderCuts, idsOf } from './deciding.ts';

const waits = ({ status }: Run) => status === 'awaiting-approval';

test('a run is approved up to a batch, and the next batch waits', async () => {
  const world = await aWorld();
  const ends = await decideUnderCuts(world, {
    command: approveRun,
    policy: { approval: anApproval(), rollout: aRollout() },
    until: waits,
    input: () => ({ batch: 1 }),
    every: 4,
    isDecided: ({ approvals = [] }) => approvals.some(({ decided }) => decided !== undefined),
    isOver: ({ status, approvals }) => status === 'awaiting-approval' && approvals?.length === 2,
  });
  for (const { run } of ends) {
    expect(run.approvals).toMatchObject([{ decided: { upTo: 1 } }, { from: 2, to: 2 }]);
    expect(lastApproval(run)?.decided).toBeUndefined();
    expect(notedBy(world, run.policy)).toEqual(await idsOf(world, run, ({ batch }) => batch === 1));
  }
});

test('a run that is rejected does nothing', async () => {
  const world = await aWorld();
  const ends = await decideUnderCuts(world, {
    command: rejectRun,
    policy: { approval: anApproval() },
    until: waits,
    every: 4,
    isDecided: (run) => lastApproval(run)?.decided !== undefined,
    isOver: ({ status }) => isFinal(status),
  });
  for (const { run } of ends) {
    expect(run).toMatchObject({ status: 'cancelled', detail: 'anna rejected it: checked' });
    expect(Object.values(await world.reasons(run))).toEqual(Array(4).fill('not-approved'));
    expect(notedBy(world, run.policy)).toEqual([]);
  }
});
