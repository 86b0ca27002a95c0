/**
 * Acts of people on runs that wait or pause, cut after every fourth command to Redis: what was decided is carried out by
 * the daemons alone, what was not decided changes nothing, and the repeated request has the effect of one. The long suite
 * cuts after each command, and has the other acts.
 */
import { expect, test } from 'vitest';
import { approveRun, rejectRun } from '../../src/control/commands/approve-run.ts';
import { resumeRun } from '../../src/control/commands/resume-run.ts';
import { lastApproval } from '../../src/run/rollout.ts';
import type { Run, Target } from '../../src/run/run.ts';
import { anApproval, aRollout, aWorld, notedBy } from '../support/rollout-cuts.ts';
import { sampleOf } from '../support/sample.ts';
import { decideUnderCuts, idsOf } from './deciding.ts';

const HOUR_MS = 3_600_000;
const longTest = test.runIf(sampleOf(false, true));
const isAt = (is: string) => (run: Run) => run.rollout?.is === is;

longTest('a run is approved once, and all of it is done once', async () => {
  const world = await aWorld();
  const ends = await decideUnderCuts(world, {
    command: approveRun,
    policy: { approval: anApproval(), rollout: aRollout() },
  });
  for (const { run } of ends) {
    expect(run).toMatchObject({ status: 'succeeded', counts: { succeeded: 4 } });
    expect(run.approvals).toMatchObject([{ decided: { is: 'approved', by: 'anna', reason: 'checked' } }]);
    expect(notedBy(world, run.policy)).toEqual(await idsOf(world, run, () => true));
  }
});

test('a run is approved up to a batch, and the next batch waits', async () => {
  const world = await aWorld();
  const ends = await decideUnderCuts(world, {
    command: approveRun,
    policy: { approval: anApproval(), rollout: aRollout() },
    input: () => ({ batch: 1 }),
    isOver: ({ status, approvals }) => status === 'awaiting-approval' && approvals?.length === 2,
  });
  for (const { run } of ends) {
    expect(run.approvals).toMatchObject([{ decided: { upTo: 1 } }, { from: 2, to: 2 }]);
    expect(lastApproval(run)?.decided).toBeUndefined();
    expect(notedBy(world, run.policy)).toEqual(await idsOf(world, run, ({ batch }) => batch === 1));
  }
});

longTest('when single targets are approved, these are done and no other', async () => {
  const world = await aWorld();
  const chosen = (targets: readonly Target[]) => [targets[0]?.id ?? '', targets[3]?.id ?? ''];
  const ends = await decideUnderCuts(world, {
    command: approveRun,
    policy: { approval: anApproval() },
    input: (targets) => ({ targets: chosen(targets) }),
  });
  for (const { run } of ends) {
    expect(run.counts).toMatchObject({ succeeded: 2, cancelled: 2 });
    expect(run.approvals).toMatchObject([
      { decided: { is: 'approved', targets: 2 }, rejected: [{ by: 'anna', targets: 2 }] },
    ]);
    expect(notedBy(world, run.policy)).toEqual(chosen(await world.targets(run)).sort());
  }
});

test('a run that is rejected does nothing', async () => {
  const world = await aWorld();
  const ends = await decideUnderCuts(world, {
    command: rejectRun,
    policy: { approval: anApproval() },
  });
  for (const { run } of ends) {
    expect(run).toMatchObject({ status: 'cancelled', detail: 'anna rejected it: checked' });
    expect(Object.values(await world.reasons(run))).toEqual(Array(4).fill('not-approved'));
    expect(notedBy(world, run.policy)).toEqual([]);
  }
});

longTest.each([
  ['a batch', () => ({ batch: 2 }), { batch: 2, targets: 2 }],
  ['single targets', (targets: readonly Target[]) => ({ targets: [targets[1]?.id ?? ''] }), { targets: 1 }],
])('%s is rejected once, and the rest waits on', async (_what, input, noted) => {
  const world = await aWorld();
  const ends = await decideUnderCuts(world, {
    command: rejectRun,
    policy: { approval: anApproval(), rollout: aRollout() },
    input,
    isDecided: (run) => lastApproval(run)?.rejected !== undefined,
    isOver: ({ status, counts }) => status === 'awaiting-approval' && counts.cancelled === noted.targets,
  });
  for (const { run } of ends) {
    expect(lastApproval(run)?.rejected).toEqual([expect.objectContaining({ by: 'anna', ...noted })]);
    expect(lastApproval(run)?.decided).toBeUndefined();
    expect(await idsOf(world, run, ({ reason }) => reason === 'not-approved')).toHaveLength(noted.targets);
    expect(notedBy(world, run.policy)).toEqual([]);
  }
});

longTest('a pause is skipped once, and the next batch is done once', async () => {
  const world = await aWorld();
  const ends = await decideUnderCuts(world, {
    command: resumeRun,
    policy: { rollout: aRollout({ pauseMs: 1000 * HOUR_MS }) },
    until: isAt('pausing'),
    isDecided: ({ rollout }) => rollout?.batches[0]?.pauseSkipped !== undefined,
  });
  for (const { run } of ends) {
    expect(run).toMatchObject({ status: 'succeeded', counts: { succeeded: 4 } });
    expect(run.rollout?.batches[0]).toMatchObject({ pauseSkipped: { by: 'anna' }, gate: { is: 'open' } });
    expect(notedBy(world, run.policy)).toEqual(await idsOf(world, run, () => true));
  }
});

const closing = { healthy: 'site.url == "nowhere"' };

longTest('a closed gate is passed once, and the next batch is done once', async () => {
  const world = await aWorld();
  const ends = await decideUnderCuts(world, {
    command: resumeRun,
    policy: { rollout: aRollout({ ...closing, waitWhenClosedMs: 1000 * HOUR_MS }) },
    until: isAt('closed'),
    isDecided: ({ rollout }) => rollout?.batches[0]?.resumed !== undefined,
  });
  for (const { run } of ends) {
    expect(run).toMatchObject({ status: 'succeeded', counts: { succeeded: 4 } });
    expect(run.detail).toBeUndefined();
    expect(run.rollout?.batches[0]).toMatchObject({ resumed: { by: 'anna' }, gate: { is: 'closed' } });
    expect(notedBy(world, run.policy)).toEqual(await idsOf(world, run, () => true));
  }
});
