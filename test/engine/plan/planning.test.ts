import { afterEach, describe, expect, test } from 'vitest';
import { ContractError } from '../../../src/contract/answers.ts';
import { createEngine } from '../../../src/engine/engine.ts';
import { planRun } from '../../../src/engine/plan/planner.ts';
import type { AnyJob } from '../../../src/job/job.ts';
import { createRegistry } from '../../../src/job/registry.ts';
import type { Run } from '../../../src/run/run.ts';
import { aGate, around, partsOf } from '../../support/between.ts';
import { aPolicy, aSchedule } from '../../support/builders.ts';
import { startWorld, until, type World } from '../../support/caretaker.ts';
import { quickSyncs } from '../../support/quick-syncs.ts';

let world: World;
afterEach(() => world.stop());

const limits = { concurrency: 20, maxTargets: 1000, maxPercent: 100 };
const goingOn = new AbortController().signal;
const plan = (caretaker: World['caretaker'], run: { id: string }) =>
  planRun(partsOf(caretaker), { kind: 'plan', run: run.id }, goingOn);

/** Removes the id of a site from the first `times` lists of sites. Returns how many were requested. */
function brokenAnswers(times: number): () => number {
  let asked = 0;
  around(world.caretaker.link('default').client, 'call', (call, id) => {
    if (id !== 'listSites') return call();
    asked += 1;
    return asked > times ? call() : Promise.reject(new ContractError(id, 'sites[0].id', 'is missing'));
  });
  return () => asked;
}

describe('a plan that two processes work on', () => {
  test('is completed by the latest one: the other one changes nothing any more', async () => {
    world = await startWorld({ before: quickSyncs, sites: 10, work: false });
    const [slow, other] = [world.caretaker, await world.another({ work: false })];
    const run = await world.fire(aPolicy());
    const gate = aGate();
    around(slow.records.runs, 'move', async (call, _run, to) => {
      if (to === 'running') await gate.pass();
      return call();
    });
    const overtaken = plan(slow, run);
    await gate.reached;
    const step = await other.records.plans.begin(run.id);

    gate.open();
    await overtaken;

    expect(step).toBe(2);
    expect(await other.records.runs.get(run.id)).toMatchObject({
      status: 'planning',
      counts: { planned: 0 },
    });
    await plan(other, run);
    expect(await other.records.runs.get(run.id)).toMatchObject({
      status: 'running',
      counts: { planned: 10 },
    });
  });

  test('and whose planners were killed twice continues when Redis fails while its targets are dispatched, and leaves no key behind', async () => {
    world = await startWorld({ before: quickSyncs, sites: 4, work: false });
    const { caretaker } = world;
    const { records, queues, redis } = caretaker;
    const run = await world.fire(aPolicy());
    // Each killed planner has left its number, and each one that lost Redis has counted an attempt.
    await records.runs.move(run, 'planning', { at: world.clock.now() });
    for (const _killed of [1, 2]) {
      await records.plans.begin(run.id);
      await records.plans.countFailure(run.id);
    }
    let cut = false;
    around(queues, 'put', (call, entries) => {
      if (cut || entries[0]?.kind !== 'act') return call();
      cut = true;
      return Promise.reject(new Error('Connection is closed.'));
    });

    await plan(caretaker, run);

    // Its targets have begun by then: the planner must not end the run as one that could not be planned.
    expect(cut).toBe(true);
    const begun = await records.runs.get(run.id);
    expect(begun).toMatchObject({ status: 'running', counts: { planned: 4 } });
    expect(begun?.detail).toBeUndefined();
    await world.another();
    expect(await world.ended(run)).toMatchObject({ status: 'succeeded', counts: { succeeded: 4 } });
    const working = ['pending', 'acting', 'following', 'waiting', 'deadlines'];
    expect(await redis.store.exists(working.map((name) => `{caretaker}:run:${run.id}:${name}`))).toBe(0);
  });

  test('is not failed by the process that was overtaken', async () => {
    world = await startWorld({ before: quickSyncs, sites: 3, work: false });
    const [broken, other] = [world.caretaker, await world.another({ work: false })];
    const run = await world.fire(aPolicy({ account: 'default' }));
    const gate = aGate();
    around(broken.link('default').client, 'call', async () => {
      await gate.pass();
      throw new TypeError('x is not a function');
    });
    // A plan has three attempts; the last one is overtaken.
    for (let tries = 0; tries < 2; tries += 1) await other.records.plans.countFailure(run.id);
    const overtaken = plan(broken, run);
    await gate.reached;
    await plan(other, run);

    gate.open();
    await overtaken;

    expect(await other.records.runs.get(run.id)).toMatchObject({ status: 'running', counts: { planned: 3 } });
  });

  test('keeps its outcomes when the run is cancelled as the plan is completed', async () => {
    world = await startWorld({ before: quickSyncs, sites: 10, work: false });
    const canceller = await world.another({ work: false });
    // One after the other, so that the first success is not the last.
    const run = await world.fire(aPolicy({ limits: { ...aPolicy().limits, concurrency: 1 } }));
    const gate = aGate();
    around(canceller.records.runs, 'end', async (call) => {
      await gate.pass();
      return call();
    });
    const cancelling = canceller.engine.cancel(run.id);
    await gate.reached;
    const working = world.caretaker.engine.work(50);
    await world.ended(run, ({ counts }) => counts.succeeded > 0);

    gate.open();
    await cancelling;
    const end = await world.ended(run);
    await working.stop();

    expect(end.status).toBe('cancelled');
    expect(end.counts).toMatchObject({ planned: 10, failed: 0 });
    expect(end.counts.succeeded + end.counts.cancelled).toBe(10);
    expect(end.counts.succeeded).toBe(world.sandbox.journal.effectsOf('syncSite').length);
  });
});

describe('a process that dies', () => {
  test('while it cancels a run leaves a run that the next process cancels', async () => {
    world = await startWorld({ before: quickSyncs, sites: 5, work: false });
    const dying = await world.another({ work: false });
    const run = await world.fire(aPolicy());
    const death = aGate();
    around(dying.records.plans, 'begin', async (call) => {
      await death.pass();
      return call();
    });
    void dying.engine.cancel(run.id);
    await death.reached;

    const working = world.caretaker.engine.work(50);
    const end = await world.ended(run);
    await working.stop();

    expect(end.status).toBe('cancelled');
    expect(world.sandbox.journal.effects).toEqual([]);
  });

  test('while it stops a run over its limit leaves a run that the next process stops', async () => {
    world = await startWorld({ before: quickSyncs, sites: 30, work: false });
    const dying = await world.another({ work: false });
    const run = await world.fire(aPolicy({ limits: { ...limits, maxTargets: 10 } }));
    const death = aGate();
    around(dying.records.runs, 'move', async (call, _run, to) => {
      if (to === 'stopped') await death.pass();
      return call();
    });
    void plan(dying, run);
    await death.reached;

    const working = world.caretaker.engine.work(50);
    const end = await world.ended(run);
    await working.stop();

    expect(end).toMatchObject({
      status: 'stopped',
      detail: 'The plan has more than 10 targets (limits.max_targets).',
    });
    expect(world.sandbox.journal.effects).toEqual([]);
  });
});

describe('a plan that cannot be made', () => {
  test('because of a bug in the job is attempted three times, and then the run fails with the reason', async () => {
    world = await startWorld({ before: quickSyncs, sites: 5, work: false });
    const { registry } = world.caretaker;
    const broken = () => {
      throw new TypeError('x is not a function');
    };
    const { work } = createEngine({
      ...partsOf(world.caretaker),
      registry: createRegistry(
        registry.names().flatMap((name) => ({ ...registry.get(name), evaluate: broken }) as AnyJob),
      ),
    });
    const working = work(50);

    const run = await world.ended(await world.fire(aPolicy()));
    await working.stop();

    expect(run).toMatchObject({ status: 'failed', detail: 'Planning failed: x is not a function' });
    expect(world.log.lines.join('\n')).toMatch(
      /a run ended .*"detail":"Planning failed: x is not a function"/,
    );
    expect(world.sandbox.journal.countOf('listSites')).toBe(3);
  });

  test('because a response lacks a required field is attempted again, and then the run continues', async () => {
    world = await startWorld({ before: quickSyncs, sites: 5 });
    brokenAnswers(1);

    const run = await world.ended(await world.fire(aPolicy()));

    expect(run).toMatchObject({ status: 'succeeded', counts: { planned: 5 } });
    expect(run).not.toHaveProperty('detail');
  });

  test('because of such responses in every attempt that the policy allows fails the run', async () => {
    world = await startWorld({ before: quickSyncs, sites: 5 });
    const asked = brokenAnswers(Number.POSITIVE_INFINITY);
    const { retry } = aPolicy();

    const run = await world.ended(await world.fire(aPolicy({ retry: { ...retry, attempts: 2 } })));

    expect(run).toMatchObject({
      status: 'failed',
      detail: 'Planning failed: listSites answered something we cannot use: sites[0].id is missing.',
    });
    expect(asked()).toBe(2);
  });

  test('during an outage longer than all its attempts is completed after the outage', async () => {
    world = await startWorld({ before: quickSyncs, sites: 5 });
    world.sandbox.outage.begin('redirect-away');
    const fired = await world.fire(aPolicy({ retry: { ...aPolicy().retry, attempts: 1 } }));
    const noted = await world.ended(fired, ({ detail }) => detail !== undefined);

    world.sandbox.outage.end();

    expect(noted.detail).toMatch(
      /^http:.* answers listSites with a redirect to https?:.* \(HTTP 30\d\), which is not followed; if it persists, check accounts\.default\.base_url\.$/,
    );
    expect(await world.ended(fired)).toMatchObject({ status: 'succeeded', counts: { planned: 5 } });
  });

  test('for lack of budget is left to the next process when this one is stopped', async () => {
    world = await startWorld({
      before: quickSyncs,
      sites: 250,
      work: false,
      rateLimit: 1,
      budget: { requestsPerMinute: 1, reserve: 0 },
    });
    const run = await world.fire(aPolicy());
    const asked = aGate();
    asked.open();
    around(world.caretaker.link('default').budget, 'take', (call) => {
      if (world.sandbox.journal.countOf('listSites') === 1) void asked.pass();
      return call();
    });
    const working = world.caretaker.engine.work(50);
    await asked.reached;

    await working.stop();

    expect(world.sandbox.journal.countOf('listSites')).toBe(1);
    expect(await world.caretaker.records.runs.get(run.id)).toMatchObject({ status: 'planning' });
    const next = (await world.another({ work: false })).engine.work(50);
    const goesOn = await world.ended(run, ({ status }) => status === 'running');
    await next.stop();
    expect(goesOn.counts.planned).toBe(250);
  });
});

describe('nothing is planned', () => {
  test('for a run that is cancelled, held, or removed, and by a process that does not serve the account', async () => {
    world = await startWorld({ before: quickSyncs, sites: 3, work: false });
    const { runs } = world.caretaker.records;
    const names = ['ending', 'held', 'not-served'];
    const fired = await Promise.all(names.map((name) => world.fire(aPolicy({ name }))));
    const [ending, held, notServed] = fired as [Run, Run, Run];
    await runs.end(ending, 'cancelled', 'By hand.');
    await runs.hold(held, { at: world.clock.now(), since: world.clock.now() }, 'Redis was restored.');

    await plan(world.caretaker, ending);
    await plan(world.caretaker, held);
    await plan(world.caretaker, { id: 'nowhere' });
    const deps = { ...partsOf(world.caretaker), addressOf: () => undefined };
    await planRun(deps, { kind: 'plan', run: notServed.id }, goingOn);

    expect(world.sandbox.journal.requests).toEqual([]);
    for (const { id } of fired) expect(await runs.get(id)).toMatchObject({ status: 'queued' });
  });
});

describe('two triggers of a policy whose runs may not overlap', () => {
  const fire = ({ engine, clock }: World['caretaker']) =>
    engine.fire(aPolicy(), { trigger: 'manual', scheduledFor: clock.now() });

  test('at the same instant create one active run and one skipped run', async () => {
    world = await startWorld({ before: quickSyncs, sites: 5, work: false });
    const processes = [world.caretaker, await world.another({ work: false })];
    // Each has seen no other active run before any of them creates its own.
    const gates = processes.map(({ records }) => {
      const gate = aGate();
      around(records.runs, 'create', async (call) => {
        await gate.pass();
        return call();
      });
      return gate;
    });
    const fired = processes.map(fire);
    await Promise.all(gates.map(({ reached }) => reached));
    for (const gate of gates) gate.open();
    const runs = await Promise.all(fired);
    expect(runs.map(({ status }) => status).sort()).toEqual(['queued', 'skipped']);

    const working = world.caretaker.engine.work(50);
    const ends = await Promise.all(runs.map((run) => world.ended(run)));
    await working.stop();

    expect(ends.map(({ status }) => status).sort()).toEqual(['skipped', 'succeeded']);
    expect(world.sandbox.journal.effectsOf('syncSite')).toHaveLength(5);
  });

  test('of which the later one may overlap, because the policy was edited, and began first: the earlier is skipped', async () => {
    world = await startWorld({ before: quickSyncs, sites: 5, work: false });
    const { caretaker } = world;
    const earlier = await fire(caretaker);
    const later = await world.fire(aPolicy({ schedule: aSchedule({ overlap: 'allow' }) }));
    await plan(caretaker, later);
    await plan(caretaker, earlier);

    const working = caretaker.engine.work(50);
    expect(await world.ended(later)).toMatchObject({ status: 'succeeded' });
    await working.stop();
    expect(await caretaker.records.runs.get(earlier.id)).toMatchObject({
      status: 'skipped',
      detail: 'Another run of the policy was active (schedule.overlap: skip).',
    });
    expect(world.sandbox.journal.effectsOf('syncSite')).toHaveLength(5);
  });

  test('of which one was suspended while the other began: the late one is skipped', async () => {
    world = await startWorld({ before: quickSyncs, sites: 5, work: false });
    const late = await world.another({ work: false });
    for (const id of world.sandbox.siteIds()) world.sandbox.site(id).syncTakes(3_600_000);
    const gate = aGate();
    around(late.records.runs, 'create', async (call) => {
      await gate.pass();
      return call();
    });
    const firing = fire(late);
    await gate.reached;
    const working = world.caretaker.engine.work(50);
    const first = await fire(world.caretaker);
    await until(world, () => world.sandbox.journal.effectsOf('syncSite').length === 5);

    gate.open();
    const second = await world.ended(
      await firing,
      ({ status }) => status !== 'queued' && status !== 'planning',
    );
    for (const id of world.sandbox.siteIds()) world.sandbox.site(id).finishSync();
    const end = await world.ended(first);
    await working.stop();

    expect(second.status).toBe('skipped');
    expect(end.status).toBe('succeeded');
  });
});
