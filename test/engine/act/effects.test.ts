import { afterEach, describe, expect, test } from 'vitest';
import { createEngine } from '../../../src/engine/engine.ts';
import { Follower } from '../../../src/engine/follow/follow.ts';
import { Gates } from '../../../src/engine/rollout/gates.ts';
import { maintainRun } from '../../../src/engine/supervise/maintain-run.ts';
import { createRegistry } from '../../../src/job/registry.ts';
import { aGate, around, type Gate, partsOf } from '../../support/between.ts';
import { aPolicy } from '../../support/builders.ts';
import { startWorld, until, type World } from '../../support/caretaker.ts';
import { quickSyncs } from '../../support/quick-syncs.ts';

let world: World;
afterEach(() => world.stop());

type Process = World['caretaker'];
const syncs = () => world.sandbox.journal.effectsOf('syncSite');

/** Lets the claims of a process expire, as happens when the whole process is suspended. */
const standStill = ({ records }: Process) => around(records.targets, 'renew', async () => true);

describe('a process that is suspended', () => {
  test('and then learns that its claim is lost sends nothing more, and the work is done once', async () => {
    world = await startWorld({ before: quickSyncs, sites: 1, work: false });
    const gate = aGate();
    let refused = 0;
    around(world.caretaker.records.targets, 'renew', async (call) => {
      if (refused === 2) return call();
      refused += 1;
      if (refused === 2) gate.open();
      return false;
    });
    /** How many requests were sent when each one was granted. */
    const sent: number[] = [];
    around(world.caretaker.link('default').budget, 'takeNow', async (call, requestClass) => {
      const ticket = await call();
      if (requestClass !== 'action') return ticket;
      await gate.pass();
      sent.push(syncs().length);
      return ticket;
    });

    const run = await world.fire(aPolicy());
    const working = world.caretaker.engine.work(50);
    const end = await world.ended(run);
    await working.stop();

    expect(end).toMatchObject({ status: 'succeeded' });
    expect(sent.slice(0, 2)).toEqual([0, 0]);
    expect(syncs()).toHaveLength(1);
  });

  /**
   * Has another process end the run while `held` is suspended at `gate` and starts nothing else, then resumes
   * it.
   */
  async function overtake(held: Process, gate: Gate) {
    const run = await world.fire(aPolicy());
    const working = held.engine.work(50);
    await gate.reached;
    const stopped = working.stop();
    const other = (await world.another({ work: false })).engine.work(50);
    const end = await world.ended(run);
    const before = syncs().length;
    gate.open();
    await Promise.all([stopped, other.stop()]);
    return { end, before };
  }

  test('before it stores its intent sends nothing afterwards: another process has done the work', async () => {
    world = await startWorld({ before: quickSyncs, sites: 1, work: false });
    const gate = aGate();
    standStill(world.caretaker);
    around(world.caretaker.link('default').budget, 'takeNow', async (call, priority) => {
      const ticket = await call();
      if (priority === 'action') await gate.pass();
      return ticket;
    });

    const { end, before } = await overtake(world.caretaker, gate);

    expect(end).toMatchObject({ status: 'succeeded', counts: { succeeded: 1 } });
    expect(before).toBe(1);
    expect(syncs()).toHaveLength(1);
  });

  test('between its intent and the request sends nothing late: another process has checked and done the work', async () => {
    world = await startWorld({ before: quickSyncs, sites: 1, work: false });
    const gate = aGate();
    standStill(world.caretaker);
    around(world.caretaker.records.targets, 'noteIntent', async (call) => {
      const step = await call();
      await gate.pass();
      return step;
    });

    const { end, before } = await overtake(world.caretaker, gate);

    expect(end).toMatchObject({ status: 'succeeded', counts: { succeeded: 1 } });
    expect(before).toBe(1);
    expect(syncs()).toHaveLength(1);
  });
});

describe('a change whose answer was lost and that did not happen', () => {
  test('is sent again 45 s after its intent at the earliest: until then the request may still arrive', async () => {
    world = await startWorld({ before: quickSyncs, sites: 1, speedUp: 20 });
    world.sandbox.failNext({ operation: 'syncSite' }, 'reset-before');
    const retry = { ...aPolicy().retry, delayMs: 1_000, maxDelayMs: 1_000 };

    const run = await world.fire(aPolicy({ retry }));
    let intent: number | undefined;
    await until(world, async () => {
      const [target] = await world.targets(run);
      intent ??= target?.intent?.at;
      return intent !== undefined && target?.state === 'waiting';
    });
    world.clock.leap(30_000);
    const end = await world.ended(run);

    expect(end).toMatchObject({ status: 'succeeded', counts: { succeeded: 1 } });
    const sent = world.sandbox.journal.requests.filter(({ operation }) => operation === 'syncSite');
    expect(sent).toHaveLength(2);
    expect((sent[1]?.at ?? 0) - (intent ?? 0)).toBeGreaterThanOrEqual(45_000);
    expect(syncs()).toHaveLength(1);
  });
});

describe('a step that takes long', () => {
  test('is not taken over as long as its process is alive', async () => {
    world = await startWorld({ before: quickSyncs, sites: 1, work: false, speedUp: 20 });
    world.sandbox.site('site-0001').syncTakes(5_000);
    const gate = aGate();
    const { client } = world.caretaker.link('default');
    around(client, 'call', async (call, operation) => {
      const answer = await call();
      if (operation === 'syncSite') await gate.pass();
      return answer;
    });
    const run = await world.fire(aPolicy());
    const working = world.caretaker.engine.work(50);
    await gate.reached;
    const [acting] = await world.targets(run);
    // Twice as long as the time after which a silent worker counts as lost.
    await world.clock.sleep(45_000);
    const [still] = await world.targets(run);

    gate.open();
    const end = await world.ended(run);
    await working.stop();

    expect(still).toMatchObject({ state: 'acting', fence: acting?.fence });
    expect(end).toMatchObject({ status: 'succeeded', counts: { succeeded: 1 } });
    expect(syncs()).toHaveLength(1);
    expect(world.log.lines.filter((line) => line.includes('worker that stopped responding'))).toEqual([]);
  });
});

describe('an error after the service has carried out the request', () => {
  test('in the budget, which cannot record the answer, loses nothing of the answer', async () => {
    world = await startWorld({ before: quickSyncs, sites: 1, work: false });
    let failures = 0;
    around(world.caretaker.link('default').budget, 'learn', (call) => {
      if (syncs().length === 0 || failures > 0) return call();
      failures += 1;
      return Promise.reject(new Error("OOM command not allowed when used memory > 'maxmemory'"));
    });
    const working = world.caretaker.engine.work(50);

    const run = await world.ended(await world.fire(aPolicy()));
    await working.stop();

    expect(failures).toBe(1);
    expect(await world.reasons(run)).toEqual({ 'site-0001': 'done' });
    expect(syncs()).toHaveLength(1);
  });

  test('that is unexpected is reconciled, and the sync that began is followed', async () => {
    world = await startWorld({ before: quickSyncs, sites: 1, work: false });
    let failures = 0;
    around(world.caretaker.link('default').client, 'call', async (call, operation) => {
      const answer = await call();
      if (operation !== 'syncSite') return answer;
      failures += 1;
      throw new TypeError('x is not a function');
    });
    const working = world.caretaker.engine.work(50);

    const run = await world.ended(await world.fire(aPolicy()));
    await working.stop();

    expect(failures).toBe(1);
    expect(await world.reasons(run)).toEqual({ 'site-0001': 'adopted' });
    expect(syncs()).toHaveLength(1);
    expect(world.log.lines.some((line) => line.includes('a job failed unexpectedly'))).toBe(true);
  });
});

describe('a request that the service rejects temporarily (429)', () => {
  test('is sent again once the next window has begun, and uses up no attempt', async () => {
    world = await startWorld({ before: quickSyncs, sites: 1, work: false });
    world.sandbox.failNext({ operation: 'syncSite' }, 'bare-429');
    // Without the rate headers there is room at once, as when the window ends right after the answer.
    around(world.caretaker.link('default').budget, 'learn', (call, _ticket, news) =>
      news?.kind === 'limited' ? Promise.resolve() : call(),
    );
    const working = world.caretaker.engine.work(50);

    const run = await world.ended(await world.fire(aPolicy()));
    await working.stop();

    expect(world.sandbox.journal.countOf('syncSite')).toBe(2);
    expect(await world.targets(run)).toMatchObject([{ reason: 'done', attempts: 0 }]);
    expect(world.log.lines.filter((line) => line.startsWith('error'))).toEqual([]);
    expect(syncs()).toHaveLength(1);
  });
});

describe('a process that lacks what a run needs', () => {
  const slowly = aPolicy({ limits: { concurrency: 1, maxTargets: 100, maxPercent: 100 } });

  /** Works beside the others without knowing the account or job, until it has polled several times. */
  async function lookOn(parts: ReturnType<typeof partsOf>) {
    const working = createEngine(parts).work(50);
    await world.clock.sleep(30_000);
    return working;
  }

  test('such as the account leaves new and active runs to the processes that have it', async () => {
    world = await startWorld({ before: quickSyncs, sites: 4, work: false });
    for (const id of world.sandbox.siteIds()) world.sandbox.site(id).syncTakes(15_000);
    const parts = { ...partsOf(await world.another({ work: false })), addressOf: () => undefined };
    const run = await world.fire(slowly);
    const ignorant = await lookOn(parts);
    expect(await world.caretaker.records.runs.get(run.id)).toMatchObject({ status: 'queued' });

    const first = world.caretaker.engine.work(50);
    await world.ended(run, ({ counts }) => counts.succeeded > 0);
    await first.stop();
    await world.clock.sleep(30_000);
    const second = world.caretaker.engine.work(50);
    const end = await world.ended(run);
    await Promise.all([ignorant.stop(), second.stop()]);

    expect(end).toMatchObject({ status: 'succeeded', counts: { planned: 4, succeeded: 4 } });
    expect(syncs()).toHaveLength(4);
  });

  test('such as the job does not fail a run that has waited long and that other processes can plan', async () => {
    world = await startWorld({ before: quickSyncs, sites: 2, work: false });
    const run = await world.fire(aPolicy());
    const parts = partsOf(await world.another({ work: false }));
    const ignorant = { ...parts, registry: createRegistry([]) };
    const waited = { ...run, createdAt: run.createdAt - 3_600_000 };

    await maintainRun(ignorant, waited, [waited], {
      gates: new Gates(ignorant, new AbortController().signal),
      follower: new Follower(ignorant, 'default', new AbortController().signal),
      probedAt: undefined,
      predictedAt: new Map(),
      replans: new Map(),
    });

    expect(await world.caretaker.records.runs.get(run.id)).toMatchObject({ status: 'queued' });
    const working = world.caretaker.engine.work(50);
    expect(await world.ended(run)).toMatchObject({ status: 'succeeded' });
    await working.stop();
  });

  test('such as the job fails no target, in particular no site whose sync may have begun', async () => {
    // Slow enough that the process stops before it looks for the syncs.
    world = await startWorld({ before: quickSyncs, sites: 3, speedUp: 20, work: false });
    world.sandbox.failNext({ operation: 'syncSite', times: 3 }, 'reset-after');
    const run = await world.fire(aPolicy());
    const first = world.caretaker.engine.work(50);
    await until(world, () => syncs().length === 3);
    await first.stop();
    const parts = partsOf(await world.another({ work: false }));
    const older = await lookOn({ ...parts, registry: createRegistry([]) });
    const meanwhile = await world.targets(run);
    const second = world.caretaker.engine.work(50);

    const end = await world.ended(run);
    await Promise.all([older.stop(), second.stop()]);

    expect(meanwhile.map(({ outcome, intent }) => [outcome, intent?.operation])).toEqual(
      Array(3).fill([undefined, 'syncSite']),
    );
    expect(end).toMatchObject({ status: 'succeeded', counts: { succeeded: 3 } });
    expect(syncs()).toHaveLength(3);
  });
});

test('a change that the service reported as made is not requested again, even if the account does not show it', async () => {
  // With the service's rate headers, which show that the answer is its own.
  world = await startWorld({ before: quickSyncs, sites: 1, rateLimit: 1_000 });
  world.sandbox.failNext({ operation: 'createSiteNote' }, 'truncate');
  around(world.caretaker.link('default').client, 'call', async (call, operation) => {
    const answer: object = await call();
    const none = { notes: [], meta: { pagination: { totalPages: 1, totalItems: 0 } } };
    return (operation === 'listSiteNotes' ? none : answer) as never;
  });
  const run = await world.fire(
    aPolicy({
      job: 'api-call',
      select: { from: 'listSites', filters: {} },
      options: { operation: 'createSiteNote', body: { note: { content: 'Leader.' } } },
    }),
  );
  await world.ended(run);

  expect(await world.targets(run)).toMatchObject([
    {
      reason: 'unknown-effect',
      detail: 'The service reported that createSiteNote was done, but the account does not show it.',
    },
  ]);
  expect(world.sandbox.journal.effectsOf('createSiteNote')).toHaveLength(1);
});
