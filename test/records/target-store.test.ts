import { beforeEach, describe, expect, test } from 'vitest';
import type { CaretakerEvent } from '../../src/records/events.ts';
import { openRecords } from '../../src/records/records.ts';
import type { Run, Target, TargetState } from '../../src/run/run.ts';
import { aTarget, type TargetChanges } from '../support/builders.ts';
import { type CutRedis, openCutRedis } from '../support/cut-redis.ts';
import { redisOfFile } from '../support/redis-of-file.ts';
import { begun, claimed, planning } from './begun.ts';

const { redis, server } = await redisOfFile();
const records = openRecords(redis);
beforeEach(() => redis.flushall());

const NOW = 1_795_262_400_000;

/** An active run whose plan has these targets. */
const running = (targets: readonly Target[], concurrency = 5) =>
  begun(records, targets, { at: NOW, limits: { concurrency } });

const targets = (count: number) => Array.from({ length: count }, (_, index) => aTarget(`site-${index}`));
const ids = (found: readonly { id: string }[]) => found.map(({ id }) => id);
const countsOf = async (run: Run) => (await records.runs.get(run.id))?.counts;

/** The next target of a run, dispatched and claimed. */
const acting = (run: Run) => claimed(records, run, NOW);

const settle = <State extends TargetState>(
  run: Run,
  target: Target,
  changes: TargetChanges<State>,
  { dueAt = NOW, spent = {}, at = NOW } = {},
) =>
  records.targets.move(run, aTarget(target.id, { ...target, ...changes } as TargetChanges<State>), {
    from: [target.state],
    dueAt,
    spent,
    at,
  });

const done = { state: 'ended', outcome: 'succeeded', reason: 'done', finishedAt: NOW } as const;

async function planOf(run: Run): Promise<Target[]> {
  const all: Target[] = [];
  for await (const target of records.targets.all(run.id)) all.push(target);
  return all;
}

test('a target is stored without the secrets in its texts, and the state of its job is stored unchanged', async () => {
  const run = await running(targets(1));
  const jobState = '{"subject":"password=hunter2"}';
  await settle(run, await acting(run), { state: 'waiting', jobState, detail: 'token=hunter2' });
  expect(await records.targets.get(run.id, 'site-0')).toMatchObject({ jobState, detail: 'token=[hidden]' });

  const target = await acting(run);
  await settle(run, target, {
    state: 'ended',
    outcome: 'failed',
    reason: 'rejected',
    label: 'https://admin:hunter2@one.example',
    detail: 'Basic dXNlcjpwYXNz was refused',
    findings: [{ severity: 'error', about: 'login', message: 'token=hunter2' }],
  });

  expect(await records.targets.get(run.id, target.id)).toMatchObject({
    label: 'https://admin:[hidden]@one.example',
    detail: 'Basic [hidden] was refused',
    findings: [{ severity: 'error', about: 'login', message: 'token=[hidden]' }],
  });
});

describe('a run that is spread', () => {
  const WINDOW = 7_200_000;
  const MINUTE = 60_000;

  /** Starts to spread a run's targets now. */
  const spreading = (targets: readonly Target[], concurrency = 100_000) =>
    begun(records, targets, { at: NOW, limits: { concurrency }, spread: { from: NOW, ms: WINDOW } });

  /** The targets that start in each minute of the window, checked every twenty seconds. */
  async function begunByMinute(run: Run): Promise<string[][]> {
    const minutes: string[][] = [];
    for (let at = 19_999; at < WINDOW; at += 20_000) {
      const minute = Math.floor(at / MINUTE);
      minutes[minute] = [
        ...(minutes[minute] ?? []),
        ...ids(await records.targets.dispatch(run.id, NOW + at, 500)),
      ];
    }
    return minutes;
  }

  test('starts its targets evenly: the busiest minute has at most 1.2 times the mean', async () => {
    const run = await spreading(targets(1_300));

    const minutes = await begunByMinute(run);

    expect(minutes.flat()).toHaveLength(1_300);
    expect(Math.max(...minutes.map(({ length }) => length))).toBeLessThanOrEqual((1_300 / 120) * 1.2);
    expect(Math.min(...minutes.map(({ length }) => length))).toBeGreaterThanOrEqual(1_300 / 120 / 1.2);
  });

  test('starts each target at about the same time in whatever order they are planned', async () => {
    const [one, other] = [
      await spreading(targets(240)),
      await spreading([...targets(240).slice(3).reverse(), ...targets(3)]),
    ];

    expect((await begunByMinute(other)).flat()).toEqual((await begunByMinute(one)).flat());
  });

  test('catches up at once after an interruption, and never exceeds its concurrency', async () => {
    const run = await spreading(targets(120), 50);

    expect(await records.targets.dispatch(run.id, NOW, 500)).toHaveLength(1);
    expect(await records.targets.dispatch(run.id, NOW + 10 * MINUTE, 500)).toHaveLength(10);
    expect(await records.targets.dispatch(run.id, NOW + 10 * MINUTE, 500)).toHaveLength(0);
    expect(await records.targets.dispatch(run.id, NOW + WINDOW, 500)).toHaveLength(39);
    expect((await records.runs.get(run.id))?.spread).toEqual({ from: NOW, ms: WINDOW, targets: 120 });
  });

  test('is not spread by a planner that was overtaken', async () => {
    const { run, fence: overtaken } = await planning(records, []);
    await records.plans.begin(run.id);

    await records.plans.order(run.id, overtaken, { spread: { from: NOW, ms: WINDOW }, first: [] });

    expect((await records.runs.get(run.id))?.spread).toBeUndefined();
  });
});

describe('a plan', () => {
  test('has its targets in order, and counts at once those that already have an outcome', async () => {
    const unfit = aTarget('c', { state: 'ended', outcome: 'skipped', reason: 'not-eligible' });
    const run = await running([aTarget('b'), unfit, aTarget('a')]);
    expect(ids(await planOf(run))).toEqual(['b', 'c', 'a']);
    expect(await countsOf(run)).toEqual({ planned: 3, succeeded: 0, failed: 0, skipped: 1, cancelled: 0 });
    expect(ids(await records.targets.pending(run.id, 10))).toEqual(['b', 'a']);
  });

  test('of more targets than a page is read completely', async () => {
    const run = await running(targets(1_201));
    expect(await planOf(run)).toHaveLength(1_201);
  });

  test('has a target once, even if it was added several times: its counts must add up', async () => {
    const run = await running([aTarget('a'), aTarget('a'), aTarget('b')]);
    expect(ids(await planOf(run))).toEqual(['a', 'b']);
    expect((await countsOf(run))?.planned).toBe(2);
  });

  test('that starts again deletes the results of the previous attempt, and accepts nothing more from it', async () => {
    const unfit = aTarget('unfit', { state: 'ended', outcome: 'skipped', reason: 'not-eligible' });
    const { run, fence: first } = await planning(records, [aTarget('old'), unfit]);
    await records.plans.add(run.id, first, [], { excluded: [{ id: 'x', label: 'x', why: 'gone' }] });
    const second = await records.plans.begin(run.id);

    expect(await records.plans.add(run.id, first, [aTarget('late')])).toBe(false);
    expect(await records.plans.add(run.id, second, [aTarget('new')])).toBe(true);
    await records.plans.add(run.id, first, [], { excluded: [{ id: 'y', label: 'y', why: 'gone' }] });

    expect(ids(await planOf(run))).toEqual(['new']);
    expect(await countsOf(run)).toMatchObject({ planned: 1, skipped: 0 });
    expect((await records.targets.reasons([run.id])).get(run.id)).toEqual([]);
    expect(await records.targets.excluded(run.id, 0, 10)).toEqual([]);
  });

  test('that is complete, or whose run has ended, is not started again', async () => {
    const run = await running(targets(1));
    expect(await records.plans.begin(run.id)).toBe(0);
    expect(await planOf(run)).toHaveLength(1);
  });

  test('lists the excluded candidates, one page at a time', async () => {
    const leftOut = ['a', 'b', 'c'].map((id) => ({
      id,
      label: `${id}.example`,
      why: 'select.where does not hold',
    }));
    const { run, fence: step } = await planning(records, []);
    await records.plans.add(run.id, step, [], { excluded: leftOut });
    await records.plans.add(run.id, step, [], { excluded: [] });
    expect(await records.targets.excluded(run.id, 1, 2)).toEqual(leftOut.slice(1));
  });
});

describe('the outcomes of a run', () => {
  test('are counted by outcome and reason, including candidates that were skipped while planning', async () => {
    const unfit = aTarget('unfit', { state: 'ended', outcome: 'skipped', reason: 'not-eligible' });
    const run = await running([unfit, ...targets(3)]);
    for (const end of [{}, { outcome: 'failed', reason: 'timeout' }, {}] as const)
      await settle(run, await acting(run), { ...done, ...end });
    const other = await running([]);

    const counts = await records.targets.reasons([run.id, other.id]);

    expect(counts.get(run.id)).toEqual([
      { outcome: 'skipped', reason: 'not-eligible', count: 1 },
      { outcome: 'succeeded', reason: 'done', count: 2 },
      { outcome: 'failed', reason: 'timeout', count: 1 },
    ]);
    expect(counts.get(other.id)).toEqual([]);
  });
});

describe('dispatch', () => {
  test('follows the order of the plan, up to the concurrency of the run', async () => {
    const run = await running(targets(4), 3);
    expect(await records.targets.dispatch(run.id, NOW, 2)).toEqual([
      { id: 'site-0', fence: 1 },
      { id: 'site-1', fence: 1 },
    ]);
    expect(ids(await records.targets.dispatch(run.id, NOW, 10))).toEqual(['site-2']);
    expect(await records.targets.dispatch(run.id, NOW, 10)).toEqual([]);
  });

  test('counts followed targets as in flight and waiting ones not, and prefers those whose wait is over', async () => {
    const run = await running(targets(3), 1);
    const first = await acting(run);
    await settle(run, first, { state: 'following' });
    expect(await records.targets.dispatch(run.id, NOW, 10)).toEqual([]);

    const [followed] = await records.targets.inState(run.id, 'following', 10);
    if (followed) await settle(run, followed, { state: 'waiting' }, { dueAt: NOW + 5_000 });
    const second = await acting(run);
    await settle(run, second, done);

    expect(second.id).toBe('site-1');
    expect(ids(await records.targets.dispatch(run.id, NOW + 5_000, 10))).toEqual(['site-0']);
  });

  test('continues only started targets on request, and starts a new one only when none is active', async () => {
    const run = await running(targets(3), 3);
    expect(ids(await records.targets.dispatch(run.id, NOW, 1, 'started'))).toEqual(['site-0']);
    expect(await records.targets.dispatch(run.id, NOW, 10, 'started')).toEqual([]);
    const [first] = await records.targets.inState(run.id, 'acting', 1);
    if (first) await settle(run, first, { state: 'waiting' });
    expect(ids(await records.targets.dispatch(run.id, NOW, 10, 'started'))).toEqual(['site-0']);
  });

  test('continues no other target of a run on request while one is acting, whose request may hang', async () => {
    const run = await running(targets(3), 3);
    const given = await records.targets.dispatch(run.id, NOW, 2);
    const [first] = await records.targets.inState(run.id, 'acting', 1);
    if (first) await settle(run, first, { state: 'waiting' });

    expect(given).toHaveLength(2);
    expect(await records.targets.dispatch(run.id, NOW, 1, 'started')).toEqual([]);
  });

  test('never gives one target to two workers', async () => {
    const run = await running(targets(20), 20);
    const given = await Promise.all([1, 2, 3, 4].map(() => records.targets.dispatch(run.id, NOW, 10)));
    const all = ids(given.flat());
    expect(all).toHaveLength(20);
    expect(new Set(all).size).toBe(20);
  });

  test('gives the slots allotted to two processes at once to one of them, also in several steps', async () => {
    const run = await running(targets(120), 200);
    const allotted = await Promise.all([1, 2].map(() => records.targets.allocate(run.account, NOW, 110)));
    expect(allotted).toEqual([1, 2].map(() => [{ run: run.id, count: 110, acting: 0 }]));

    const given = await Promise.all([1, 2].map(() => records.targets.dispatch(run.id, NOW, 110, 'all', 0)));

    expect(new Set(ids(given.flat())).size).toBe(110);
    expect(given.flat()).toHaveLength(110);
    expect(ids(await records.targets.dispatch(run.id, NOW, 110))).toEqual(ids(targets(120).slice(110)));
  });

  test('does nothing unless the run is running', async () => {
    const run = await running(targets(1));
    await records.runs.move(run, 'blocked', { at: NOW });
    expect(await records.targets.dispatch(run.id, NOW, 10)).toEqual([]);
    expect(await records.targets.dispatch('nowhere', NOW, 10)).toEqual([]);
  });

  test('starts nothing new in a cancelled run, but continues with effects that are not reconciled yet', async () => {
    const run = await running(targets(2), 5);
    const first = await acting(run);
    await settle(run, first, { state: 'waiting', intent: { operation: 'syncSite', at: NOW } });
    await records.runs.end(run, 'cancelled', 'By hand.');
    expect(ids(await records.targets.dispatch(run.id, NOW, 10))).toEqual(['site-0']);
  });

  test('starts the time limit of a target when it is dispatched for the first time', async () => {
    const run = await running(targets(2), 1);
    const first = await acting(run);
    expect(first).toMatchObject({ startedAt: NOW, deadline: NOW + 60_000 });
    await settle(run, first, { state: 'waiting' });
    await records.targets.dispatch(run.id, NOW + 30_000, 1);

    expect(await records.targets.late(run.id, NOW + 59_999, 10)).toEqual([]);
    expect(ids(await records.targets.late(run.id, NOW + 60_000, 10))).toEqual(['site-0']);
  });
});

describe('a worker with a target', () => {
  test('claims it once, however often its entry is delivered', async () => {
    const run = await running(targets(1));
    const [released] = await records.targets.dispatch(run.id, NOW, 1);
    if (!released) throw new Error('There is one to be had.');
    const claims = await Promise.all([1, 2, 3].map(() => records.targets.claim(run, released, NOW)));
    expect(claims.filter(Boolean)).toHaveLength(1);
    expect(claims.find(Boolean)?.target).toMatchObject({
      id: 'site-0',
      state: 'acting',
      fence: 2,
      claimed: true,
    });
    expect(await records.targets.claim(run, { id: 'nowhere', fence: 1 }, NOW)).toBeUndefined();
  });

  test('learns that the run was cancelled, and gets no target of a blocked run', async () => {
    const run = await running(targets(2));
    const [first, second] = await records.targets.dispatch(run.id, NOW, 2);
    await records.runs.end(run, 'cancelled', 'By hand.');
    expect(first && (await records.targets.claim(run, first, NOW))?.ending).toBe('cancelled');

    await records.runs.move(run, 'blocked', { at: NOW });

    expect(second && (await records.targets.claim(run, second, NOW))).toBeUndefined();
  });

  test('stores an intent before anything is sent, and cannot overwrite it with a copy that was read before', async () => {
    const run = await running(targets(1));
    const stale = await acting(run);
    const intent = { operation: 'syncSite', at: NOW + 7 };
    expect(await records.targets.noteIntent(run.id, stale, intent)).toBe(stale.fence + 1);
    expect(await settle(run, stale, { state: 'waiting' })).toBe(false);
    expect(await records.targets.get(run.id, 'site-0')).toMatchObject({ intent });
  });

  test('can neither send nor write any more after the target was dispatched to another worker', async () => {
    const run = await running(targets(1));
    const lost = await acting(run);
    await settle(run, lost, { state: 'waiting' });
    const theirs = await acting(run);

    expect(await records.targets.noteIntent(run.id, lost, { operation: 'syncSite', at: NOW })).toBe('fenced');
    expect(await settle(run, lost, done)).toBe(false);
    expect(await records.targets.get(run.id, 'site-0')).toEqual(theirs);
  });

  test('can start nothing new after the run was cancelled', async () => {
    const run = await running(targets(1));
    const target = await acting(run);
    await records.runs.end(run, 'cancelled', 'By hand.');

    expect(await records.targets.noteIntent(run.id, target, { operation: 'syncSite', at: NOW })).toBe(
      'run-cancelled',
    );
    expect(await records.targets.get(run.id, 'site-0')).not.toHaveProperty('intent');
  });

  test('keeps its claim while it works, and learns when it has lost the claim', async () => {
    const run = await running(targets(1));
    const target = await acting(run);
    expect(await records.targets.renew(run.id, target, NOW + 20_000)).toBe(true);
    expect(await records.targets.inState(run.id, 'acting', 10, NOW + 19_999)).toEqual([]);

    await settle(run, target, { state: 'waiting' });
    expect(await records.targets.renew(run.id, target, NOW + 30_000)).toBe(false);
    expect(await records.targets.inState(run.id, 'acting', 10)).toEqual([]);
  });

  test('has its requests counted even if its result is too late', async () => {
    const run = await running(targets(1));
    const target = await acting(run);
    await settle(run, target, done, { spent: { syncSite: 2 } });
    expect(await settle(run, target, { ...done, reason: 'adopted' }, { spent: { listSites: 3 } })).toBe(
      false,
    );
    expect(await records.runs.get(run.id)).toMatchObject({
      requests: 5,
      requestsByOperation: { listSites: 3, syncSite: 2 },
    });
  });
});

describe('an outcome', () => {
  test('is counted, indexed and published in one step, and is final', async () => {
    const run = await running(targets(1));
    const target = await acting(run);
    const heard = new Promise<CaretakerEvent>((resolve) => {
      void records.listen(resolve).then(() => settle(run, target, done, { spent: { syncSite: 2 } }));
    });

    expect(await heard).toEqual({
      type: 'target.ended',
      run: run.id,
      target: 'site-0',
      outcome: 'succeeded',
      reason: 'done',
      at: NOW,
      job: run.job,
      startedAt: NOW,
    });
    expect(await records.runs.get(run.id)).toMatchObject({ requests: 2, counts: { succeeded: 1 } });
    expect(await records.targets.inState(run.id, 'acting', 10)).toEqual([]);
    expect(await records.targets.late(run.id, NOW * 2, 10)).toEqual([]);
    expect(await records.targets.runsOf('agency', 'site-0')).toEqual([run.id]);
    const [ended] = await planOf(run);
    expect(ended).toEqual(aTarget(target.id, { ...target, ...done }));
    expect(await settle(run, aTarget(target.id, { ...target, ...done }), { state: 'waiting' })).toBe(false);
    expect(await planOf(run)).toEqual([ended]);
  });

  test('can be given to a target that was not started, which is then no longer dispatched', async () => {
    const run = await running(targets(2));
    const [first] = await records.targets.pending(run.id, 1);
    if (first) await settle(run, first, { ...done, outcome: 'cancelled', reason: 'run-cancelled' });
    expect(ids(await records.targets.dispatch(run.id, NOW, 10))).toEqual(['site-1']);
    expect((await countsOf(run))?.cancelled).toBe(1);
  });

  test('is found by its target: the latest twenty runs, newest first', async () => {
    const runs: Run[] = [];
    for (let i = 0; i < 22; i += 1) {
      const run = await running([aTarget('site-0')]);
      const target = await acting(run);
      await settle(run, target, done, { at: NOW + i });
      runs.unshift(run);
    }
    expect(await records.targets.runsOf('agency', 'site-0')).toEqual(ids(runs).slice(0, 20));
  });

  test('with half an emoji in its message breaks no later step', async () => {
    const run = await running(targets(1));
    const detail = `The service says \\ud83d "${'😀'.slice(0, 1)}" 😀 \\`;
    await settle(run, await acting(run), { state: 'waiting', detail });
    expect((await acting(run)).detail).toBe('The service says \\ud83d "\ufffd" 😀 \\');
  });
});

describe('reading', () => {
  test('by state is sorted by time, up to a given time and count', async () => {
    const run = await running(targets(3));
    const claims = [await acting(run), await acting(run), await acting(run)];
    for (const [at, target] of claims.entries())
      await settle(run, target, { state: 'waiting' }, { dueAt: NOW + 3_000 - 1_000 * at });
    expect(ids(await records.targets.inState(run.id, 'waiting', 10))).toEqual(['site-2', 'site-1', 'site-0']);
    expect(ids(await records.targets.inState(run.id, 'waiting', 10, NOW + 2_000))).toEqual([
      'site-2',
      'site-1',
    ]);
    expect(ids(await records.targets.inState(run.id, 'waiting', 1))).toEqual(['site-2']);
  });

  test('from a position of the plan reads no more than was requested', async () => {
    const run = await running(targets(10));
    expect(ids(await records.targets.slice(run.id, 3, 2))).toEqual(['site-3', 'site-4']);
    expect(ids(await records.targets.slice(run.id, 8, 5))).toEqual(['site-8', 'site-9']);
    expect(await records.targets.slice(run.id, 10, 5)).toEqual([]);
  });

  test('what does not exist returns nothing', async () => {
    expect(await records.targets.get('nowhere', 'a')).toBeUndefined();
    expect(await records.targets.many('nowhere', [])).toEqual([]);
    expect(await records.targets.many('nowhere', ['a'])).toEqual([]);
    expect(await records.targets.runsOf('agency', 'a')).toEqual([]);
  });
});

describe('when Redis loses its connection before it responds', () => {
  let cut: CutRedis;
  beforeEach(async () => {
    cut = await openCutRedis(server.socketPath);
    return cut.stop;
  });

  test('an outcome is written once, and the worker that wrote it knows that', async () => {
    const run = await running(targets(1));
    const target = await acting(run);
    cut.loseNextAnswer();
    const settled = await openRecords(cut.redis).targets.move(
      run,
      aTarget(target.id, { ...target, ...done }),
      { from: ['acting'], spent: { syncSite: 2 }, at: NOW },
    );
    expect(cut.lost()).toBe(1);
    expect(settled).toBe(true);
    expect(await records.runs.get(run.id)).toMatchObject({ requests: 2, counts: { succeeded: 1 } });
  });

  test('an intent that was stored stays stored, and no worker sends what another one may have sent', async () => {
    const run = await running(targets(1));
    const target = await acting(run);
    cut.loseNextAnswer();
    const intent = { operation: 'syncSite', at: NOW };
    expect(await openRecords(cut.redis).targets.noteIntent(run.id, target, intent)).toBe(target.fence + 1);
    expect(cut.lost()).toBe(1);
  });
});

describe('the budget of an account', () => {
  /** An active run with this many targets to start, and this many in flight. */
  async function underWay(account: string, pending: number, following: number, weight = 1): Promise<Run> {
    const limits = { concurrency: 1_000, weight };
    const run = await begun(records, targets(pending + following), { at: NOW, run: { account }, limits });
    for (const released of await records.targets.dispatch(run.id, NOW, Math.max(following, 1))) {
      const { target } = (await records.targets.claim(run, released, NOW)) ?? {};
      if (target) await settle(run, target, { state: 'following' });
    }
    return run;
  }
  const allotted = async (account: string, room: number) =>
    Object.fromEntries(
      (await records.targets.allocate(account, NOW, room)).map(({ run, count }) => [run, count]),
    );

  test('goes first to the run with the fewest targets in flight, so that a small run passes a large one', async () => {
    const large = await underWay('shared-a', 500, 100);
    const small = await underWay('shared-a', 5, 1);

    expect(await allotted('shared-a', 5)).toEqual({ [small.id]: 5 });
    expect(await allotted('shared-a', 50)).toEqual({ [small.id]: 5, [large.id]: 45 });
  });

  test('is divided by the priorities of the policies', async () => {
    const high = await underWay('shared-b', 500, 9, 9);
    const normal = await underWay('shared-b', 500, 3, 3);
    const low = await underWay('shared-b', 500, 1, 1);

    expect(await allotted('shared-b', 130)).toEqual({ [high.id]: 90, [normal.id]: 30, [low.id]: 10 });
  });

  test('goes completely to one run when no other needs it, and counts what is already dispatched once', async () => {
    const only = await underWay('shared-c', 100, 1);
    expect(await allotted('shared-c', 60)).toEqual({ [only.id]: 60 });

    await records.targets.dispatch(only.id, NOW, 40);

    expect(await allotted('shared-c', 60)).toEqual({ [only.id]: 20 });
    await records.runs.end(only, 'cancelled', 'It was cancelled manually.');
    expect(await allotted('shared-c', 60)).toEqual({});
  });
});
