/** Entries that name several targets, and the slots of a process. */
import { afterEach, expect, test } from 'vitest';
import { Actor } from '../../../src/engine/act/actor.ts';
import { planRun } from '../../../src/engine/plan/planner.ts';
import type { Target } from '../../../src/run/run.ts';
import { aGate, around, partsOf } from '../../support/between.ts';
import { aPolicy } from '../../support/builders.ts';
import { startWorld, until, type World } from '../../support/caretaker.ts';
import { quickSyncs } from '../../support/quick-syncs.ts';
import { superviseOnce } from '../../support/supervise.ts';

let world: World;
afterEach(() => world.stop());

const syncs = () => world.sandbox.journal.effectsOf('syncSite');

/** A run whose targets are dispatched, and its entry. */
async function dispatched(sites: number) {
  world = await startWorld({ before: quickSyncs, sites, work: false, leaps: false });
  const run = await world.fire(
    aPolicy({ limits: { concurrency: sites, maxTargets: sites, maxPercent: 100 } }),
  );
  const parts = partsOf(world.caretaker);
  await planRun(parts, { kind: 'plan', run: run.id }, new AbortController().signal);
  const targets = await parts.records.targets.inState(run.id, 'acting', sites);
  const entry = { kind: 'act' as const, run: run.id, targets };
  return { run, parts, entry };
}

/** Holds the requests of a process until the test releases them. */
function heldRequests({ link }: ReturnType<typeof partsOf>) {
  const gate = aGate();
  around(link('default').client, 'call', async (call) => {
    await gate.pass();
    return call();
  });
  return gate;
}

const statesOf = (targets: readonly Target[]) => targets.map(({ state }) => state).sort();

test('what is dispatched together goes to the queue together, in entries of at most 25 targets', async () => {
  const { parts, entry } = await dispatched(30);
  const [, actions] = parts.queues.boards();
  const entries = (await actions?.getJobs(['waiting'])) ?? [];
  const sizes = entries.map(({ data }) => data.targets.length);
  expect(sizes.reduce((sum, size) => sum + size, 0)).toBe(entry.targets.length);
  expect(Math.max(...sizes)).toBeLessThanOrEqual(25);
  expect(sizes.length).toBeLessThan(5);
  expect(entries.map(({ name }) => name)).toContainEqual(
    expect.stringMatching(/^nightly-sync: site-\d+ and \d+ more$/),
  );
});

test('a process works on as many targets as it has slots, and an entry ends with its last target', async () => {
  const { run, parts, entry } = await dispatched(5);
  let now = 0;
  let most = 0;
  around(parts.link('default').client, 'call', async (call) => {
    now += 1;
    most = Math.max(most, now);
    const answer = await call();
    now -= 1;
    return answer;
  });

  const report = await new Actor(parts, 2).act(entry);

  expect(most).toBe(2);
  expect(statesOf(await world.targets(run))).toEqual(Array(5).fill('following'));
  expect(report.result).toMatchObject({ account: 'default', targets: 5, requests: 5 });
  expect(report.log).toHaveLength(5);
  expect(report.log[0]).toMatch(/ \(site-\d+\)\. Outcome: open, follows /);
});

test('a target that waits for a slot is renewed, so that it is not queued again', async () => {
  const { run, parts, entry } = await dispatched(3);
  const gate = heldRequests(parts);
  const acting = new Actor(parts, 1).act(entry);
  await gate.reached;
  await world.clock.sleep(30_000);

  const isRenewed = async () => {
    const before = world.clock.now() - 10_000;
    return (await parts.records.targets.inState(run.id, 'acting', 10, before)).length === 0;
  };
  await until(world, isRenewed);

  gate.open();
  await acting;
  expect(syncs()).toHaveLength(3);
});

test('targets that nobody claims are queued again, each in an entry of its own, which is added once', async () => {
  const { run, parts, entry } = await dispatched(4);
  await world.clock.sleep(11_000);
  await superviseOnce(world.caretaker, run.id);
  const [first] = entry.targets;
  if (first) await parts.records.targets.claim(run, first, world.clock.now());
  await superviseOnce(world.caretaker, run.id);

  const [, actions] = parts.queues.boards();
  const entries = (await actions?.getJobs(['waiting'])) ?? [];
  const again = entries.map(({ data }) => data.targets).filter(({ length }) => length === 1);
  expect(again.flat()).toHaveLength(4);
  expect(again.flat()).toContainEqual({ id: first?.id, fence: first?.fence });
});

test('an entry that is delivered twice has its effects once', async () => {
  const { parts, entry } = await dispatched(4);
  const reports = await Promise.all([new Actor(parts, 4).act(entry), new Actor(parts, 4).act(entry)]);

  expect(syncs()).toHaveLength(4);
  expect(new Set(syncs()).size).toBe(4);
  const claimed = reports.flatMap(({ log }) => log.filter((line) => line.includes('Outcome')));
  expect(claimed).toHaveLength(4);
});

test('a process that stops finishes what it has claimed, and leaves the rest of an entry to others', async () => {
  const { run, parts, entry } = await dispatched(3);
  const gate = heldRequests(parts);
  const actor = new Actor(parts, 1);
  const acting = actor.act(entry);
  await gate.reached;
  actor.claimNoMore();
  gate.open();

  const report = await acting;
  expect(syncs()).toHaveLength(1);
  expect(statesOf(await world.targets(run))).toEqual(['acting', 'acting', 'following']);
  expect(report.log.at(-1)).toMatch(/^Not claimed: 2\. Such a target had been claimed/);

  const working = world.caretaker.engine.work(5);
  await world.ended(run);
  await working.stop();
  expect(syncs()).toHaveLength(3);
});

test('an error of one target fails the entry after the others are done', async () => {
  const { parts, entry } = await dispatched(3);
  const failing = entry.targets[0]?.id;
  around(parts.records.targets, 'claim', async (call, _run, { id }) => {
    if (id === failing) throw new Error('The disk is full.');
    return call();
  });

  await expect(new Actor(parts, 3).act(entry)).rejects.toThrow('The disk is full.');
  expect(syncs()).toHaveLength(2);
});
