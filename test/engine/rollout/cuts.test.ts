/**
 * A process that is cut after each command to Redis while it plans a run with batches, an approval expires, a gate closes
 * or opens, or the wait at a closed gate is over: another one goes on, with one result, and no site is worked on twice or
 * too early.
 */
import { expect, test } from 'vitest';
import { localPrincipal } from '../../../src/access/principal.ts';
import type { Caretaker } from '../../../src/app/caretaker.ts';
import { planRun } from '../../../src/engine/plan/planner.ts';
import { isFinal } from '../../../src/run/moves.ts';
import type { Run } from '../../../src/run/run.ts';
import { partsOf } from '../../support/between.ts';
import type { World } from '../../support/caretaker.ts';
import {
  anApproval,
  aRollout,
  aWorld,
  type Cutting,
  cutEverywhere,
  notedBy,
  noting,
  runOf,
} from '../../support/rollout-cuts.ts';
import { sampleOf } from '../../support/sample.ts';
import { superviseOnce } from '../../support/supervise.ts';

const HOUR_MS = 3_600_000;
const isAt = (is: string) => (run: Run) => run.rollout?.is === is;

/** Supervises a run until nothing more is due. */
async function supervise(caretaker: Caretaker, { id }: Run): Promise<void> {
  for (let step = -1; ; ) {
    const run = await caretaker.records.runs.get(id);
    if (!run || isFinal(run.status) || run.step === step) return;
    step = run.step ?? 0;
    await superviseOnce(caretaker, id);
  }
}

test('a run is planned, put into batches and waits for its approval once', async () => {
  const world = await aWorld();
  const { signal } = new AbortController();
  const cuts = await cutEverywhere(world, {
    policy: { approval: anApproval(), rollout: aRollout() },
    act: (dying, { id: run }) => planRun(partsOf(dying), { kind: 'plan', run }, signal),
  });
  expect(cuts.length).toBeGreaterThan(sampleOf(0, 15));
  const working = world.caretaker.engine.work(20);
  for (const { before } of cuts) {
    const run = await world.ended(before, ({ status }) => status === 'awaiting-approval');
    expect(run).toMatchObject({ planComplete: true, counts: { planned: 4 } });
    expect(run.approvals).toMatchObject([{ from: 1, to: 2 }]);
    expect(run.rollout?.batches.map(({ targets }) => targets)).toEqual([2, 2]);
    await world.caretaker.engine.approve(run.id, { by: localPrincipal('anna') });
  }
  for (const { before } of cuts) {
    const run = await world.ended(before);
    expect(run).toMatchObject({ status: 'succeeded', counts: { planned: 4, succeeded: 4 } });
    expect(notedBy(world, run.policy)).toEqual([...world.sandbox.siteIds()].sort());
  }
  await working.stop();
});

/** The ends of runs whose supervisors were cut. */
async function endsUnderCuts(world: World, cutting: Omit<Cutting, 'act'>): Promise<Run[]> {
  const cuts = await cutEverywhere(world, { ...cutting, act: supervise });
  expect(cuts.length).toBeGreaterThan(sampleOf(0, 5));
  const working = world.caretaker.engine.work(20);
  const ends: Run[] = [];
  for (const { before } of cuts) ends.push(await world.ended(before));
  await working.stop();
  for (const { id } of ends)
    expect((await runOf(world, id)).step, 'nothing goes on').toBe(ends.find((one) => one.id === id)?.step);
  return ends;
}

const ofBatch = async (world: World, run: Run, batch: number) =>
  (await world.targets(run))
    .filter((target) => target.batch === batch)
    .map(({ id }) => id)
    .sort();

test('an approval expires once, and nothing is done', async () => {
  const world = await aWorld();
  const ends = await endsUnderCuts(world, {
    policy: { approval: anApproval(), rollout: aRollout() },
    until: ({ status }) => status === 'awaiting-approval',
    meanwhile: ({ clock }) => clock.leap(1001 * HOUR_MS),
  });
  for (const run of ends) {
    expect(run).toMatchObject({ status: 'cancelled', counts: { cancelled: 4 } });
    expect(run.detail).toMatch(/^It was not approved before/);
    expect(run.approvals).toMatchObject([{ decided: { is: 'expired', by: 'caretaker' } }]);
    expect(notedBy(world, run.policy)).toEqual([]);
  }
});

const pausing = { pauseMs: 400 * HOUR_MS };
const closing = { healthy: 'site.url == "nowhere"' };
const stopped = { status: 'stopped', ending: 'gate-closed', counts: { succeeded: 2, cancelled: 2 } };
const seenBy = async ({ caretaker }: World, { id }: Run) =>
  (await caretaker.records.batches.gates(id)).get(1)?.map(({ is }) => is);

test('a gate closes once, and nothing of the next batch is done', async () => {
  const world = await aWorld();
  const ends = await endsUnderCuts(world, {
    policy: { rollout: aRollout({ ...pausing, ...closing }) },
    until: isAt('pausing'),
    meanwhile: ({ clock }) => clock.leap(401 * HOUR_MS),
  });
  for (const run of ends) {
    expect(run).toMatchObject(stopped);
    expect(run.detail).toMatch(/^The gate after batch 1 of 2 \(2 targets\) closed: 2 of 2 targets are not/);
    expect(await seenBy(world, run)).toEqual(['unhealthy', 'unhealthy']);
    expect(notedBy(world, run.policy)).toEqual(await ofBatch(world, run, 1));
  }
});

test('nobody resumes a run with a closed gate in time, and it ends once', async () => {
  const world = await aWorld();
  const ends = await endsUnderCuts(world, {
    policy: { rollout: aRollout({ ...closing, waitWhenClosedMs: 400 * HOUR_MS }) },
    until: isAt('closed'),
    meanwhile: ({ clock }) => clock.leap(401 * HOUR_MS),
  });
  for (const run of ends) {
    expect(run).toMatchObject(stopped);
    expect(notedBy(world, run.policy)).toEqual(await ofBatch(world, run, 1));
  }
});

test('a gate opens, the next batch is looked at again, and it is done once', async () => {
  const world = await aWorld();
  const ends = await endsUnderCuts(world, {
    policy: { rollout: aRollout({ ...pausing, healthy: 'site.url != ""' }) },
    until: isAt('pausing'),
    meanwhile: ({ clock }) => clock.leap(401 * HOUR_MS),
  });
  for (const run of ends) {
    expect(run).toMatchObject({ status: 'succeeded', counts: { succeeded: 4 } });
    expect(run.detail).toBeUndefined();
    expect(await seenBy(world, run)).toEqual(['healthy', 'healthy']);
    expect(notedBy(world, run.policy)).toEqual(
      [...(await ofBatch(world, run, 1)), ...(await ofBatch(world, run, 2))].sort(),
    );
  }
});

test('a run with a closed gate waits for a person for longer than a run may take, also for a supervisor that read it before', async () => {
  const world = await aWorld();
  const limits = { timeout: { targetMs: 100 * HOUR_MS, runMs: 200 * HOUR_MS } };
  const rollout = aRollout({ ...pausing, ...closing, waitWhenClosedMs: 1000 * HOUR_MS });
  const working = world.caretaker.engine.work(20);
  const run = await world.ended(
    await world.fire(noting('suspended', { ...limits, rollout })),
    isAt('pausing'),
  );
  await working.stop();
  const seen = await runOf(world, run.id);
  world.clock.leap(401 * HOUR_MS);
  await supervise(world.caretaker, run);
  expect(await runOf(world, run.id)).toMatchObject({ rollout: { is: 'closed' } });

  world.clock.leap(300 * HOUR_MS);
  for (const readBefore of [undefined, seen]) {
    await superviseOnce(world.caretaker, run.id, readBefore);
    expect(await runOf(world, run.id)).toMatchObject({ status: 'running', rollout: { is: 'closed' } });
  }
  expect((await world.targets(run)).filter(({ batch }) => batch === 2)).toMatchObject([
    { state: 'pending' },
    { state: 'pending' },
  ]);
});
