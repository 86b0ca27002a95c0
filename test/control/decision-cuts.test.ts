/**
 * Acts of people on runs that wait or pause, cut after each command to Redis: what was decided is carried out by the
 * daemons alone, what was not decided changes nothing, and the repeated request has the effect of one.
 */
import { expect, test } from 'vitest';
import type { Caretaker } from '../../src/app/caretaker.ts';
import { carryOutOnce } from '../../src/control/carry-out.ts';
import type { AnyCommand } from '../../src/control/command.ts';
import { approveRun, rejectRun } from '../../src/control/commands/approve-run.ts';
import { resumeRollout, skipPause } from '../../src/control/commands/change-rollout.ts';
import type { AuditLine } from '../../src/records/audit-store.ts';
import { isFinal } from '../../src/run/moves.ts';
import { lastApproval } from '../../src/run/rollout.ts';
import type { Run, Target } from '../../src/run/run.ts';
import type { World } from '../support/caretaker.ts';
import {
  anApproval,
  aRollout,
  aWorld,
  type CutRun,
  cutEverywhere,
  notedBy,
  runOf,
} from '../support/rollout-cuts.ts';

const HOUR_MS = 3_600_000;
const by = {
  principal: { kind: 'user', name: 'anna', grants: [{ role: 'admin' }] },
  from: '192.0.2.1',
} as const;
const waits = ({ status }: Run) => status === 'awaiting-approval';
const isAt = (is: string) => (run: Run) => run.rollout?.is === is;

const request = (caretaker: Caretaker, command: AnyCommand, run: Run, input: object = {}) =>
  carryOutOnce(command, caretaker, { run: run.id, reason: 'checked', ...input }, by, `key of ${run.id}`);

/** The lines of the audit log about a run, oldest first. */
async function linesOf({ caretaker }: World, run: string): Promise<AuditLine[]> {
  const lines: AuditLine[] = [];
  for await (const { line } of caretaker.records.audit.newestFirst({}))
    if (line.run === run) lines.unshift(line);
  return lines;
}

interface Deciding {
  command: AnyCommand;
  policy: Parameters<typeof cutEverywhere>[1]['policy'];
  until: (run: Run) => boolean;
  input?: (targets: readonly Target[]) => object;
  /** Whether the run shows the act, at the cut and later. */
  isDecided: (run: Run) => boolean;
  /** Whether the run has come to where it stays after the act. */
  isOver: (run: Run) => boolean;
}

/**
 * Cuts the act everywhere; then daemons work alone, then the person repeats the request. Gives the runs as they are
 * after that.
 */
async function decideUnderCuts(world: World, deciding: Deciding): Promise<{ run: Run; cut: CutRun }[]> {
  const { command, policy, until, input = () => ({}), isDecided, isOver } = deciding;
  const cuts = await cutEverywhere(world, {
    policy,
    until,
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
    const lines = await linesOf(world, before.id);
    expect(new Set(lines.map(({ act }) => act)).size, 'it is one act').toBe(1);
    expect(lines.at(0)).toMatchObject({ result: 'requested', what: command.name, why: 'checked' });
    expect(lines.at(-1)).toMatchObject({ result: 'done', who: { name: 'anna' } });
  }
  return ends;
}

const idsOf = async (world: World, run: Run, which: (target: Target) => boolean) =>
  (await world.targets(run))
    .filter(which)
    .map(({ id }) => id)
    .sort();

test('a run is approved once, and all of it is done once', async () => {
  const world = await aWorld();
  const ends = await decideUnderCuts(world, {
    command: approveRun,
    policy: { approval: anApproval(), rollout: aRollout() },
    until: waits,
    isDecided: (run) => lastApproval(run)?.decided !== undefined,
    isOver: ({ status }) => isFinal(status),
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
    until: waits,
    input: () => ({ batch: 1 }),
    isDecided: ({ approvals = [] }) => approvals.some(({ decided }) => decided !== undefined),
    isOver: ({ status, approvals }) => status === 'awaiting-approval' && approvals?.length === 2,
  });
  for (const { run } of ends) {
    expect(run.approvals).toMatchObject([{ decided: { upTo: 1 } }, { from: 2, to: 2 }]);
    expect(lastApproval(run)?.decided).toBeUndefined();
    expect(notedBy(world, run.policy)).toEqual(await idsOf(world, run, ({ batch }) => batch === 1));
  }
});

test('when single targets are approved, these are done and no other', async () => {
  const world = await aWorld();
  const chosen = (targets: readonly Target[]) => [targets[0]?.id ?? '', targets[3]?.id ?? ''];
  const ends = await decideUnderCuts(world, {
    command: approveRun,
    policy: { approval: anApproval() },
    until: waits,
    input: (targets) => ({ targets: chosen(targets) }),
    isDecided: (run) => lastApproval(run)?.decided !== undefined,
    isOver: ({ status }) => isFinal(status),
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
    until: waits,
    isDecided: (run) => lastApproval(run)?.decided !== undefined,
    isOver: ({ status }) => isFinal(status),
  });
  for (const { run } of ends) {
    expect(run).toMatchObject({ status: 'cancelled', detail: 'anna rejected it: checked' });
    expect(Object.values(await world.reasons(run))).toEqual(Array(4).fill('not-approved'));
    expect(notedBy(world, run.policy)).toEqual([]);
  }
});

test.each([
  ['a batch', () => ({ batch: 2 }), { batch: 2, targets: 2 }],
  ['single targets', (targets: readonly Target[]) => ({ targets: [targets[1]?.id ?? ''] }), { targets: 1 }],
])('%s is rejected once, and the rest waits on', async (_what, input, noted) => {
  const world = await aWorld();
  const ends = await decideUnderCuts(world, {
    command: rejectRun,
    policy: { approval: anApproval(), rollout: aRollout() },
    until: waits,
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

test('a pause is skipped once, and the next batch is done once', async () => {
  const world = await aWorld();
  const ends = await decideUnderCuts(world, {
    command: skipPause,
    policy: { rollout: aRollout({ pauseMs: 1000 * HOUR_MS }) },
    until: isAt('pausing'),
    isDecided: ({ rollout }) => rollout?.batches[0]?.pauseSkipped !== undefined,
    isOver: ({ status }) => isFinal(status),
  });
  for (const { run } of ends) {
    expect(run).toMatchObject({ status: 'succeeded', counts: { succeeded: 4 } });
    expect(run.rollout?.batches[0]).toMatchObject({ pauseSkipped: { by: 'anna' }, gate: { is: 'open' } });
    expect(notedBy(world, run.policy)).toEqual(await idsOf(world, run, () => true));
  }
});

const closing = { healthy: 'site.url == "nowhere"' };

test('a closed gate is passed once, and the next batch is done once', async () => {
  const world = await aWorld();
  const ends = await decideUnderCuts(world, {
    command: resumeRollout,
    policy: { rollout: aRollout({ ...closing, waitWhenClosedMs: 1000 * HOUR_MS }) },
    until: isAt('closed'),
    isDecided: ({ rollout }) => rollout?.batches[0]?.resumed !== undefined,
    isOver: ({ status }) => isFinal(status),
  });
  for (const { run } of ends) {
    expect(run).toMatchObject({ status: 'succeeded', counts: { succeeded: 4 } });
    expect(run.detail).toBeUndefined();
    expect(run.rollout?.batches[0]).toMatchObject({ resumed: { by: 'anna' }, gate: { is: 'closed' } });
    expect(notedBy(world, run.policy)).toEqual(await idsOf(world, run, () => true));
  }
});
