import { afterEach, describe, expect, test } from 'vitest';
import { createEngine } from '../../../src/engine/engine.ts';
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

  test.each<[string, (held: Process, gate: Gate) => void]>([
    [
      'before it stores its intent',
      ({ link }, gate) =>
        around(link('default').budget, 'takeNow', async (call, requestClass) => {
          const ticket = await call();
          if (requestClass === 'action') await gate.pass();
          return ticket;
        }),
    ],
    [
      'between its intent and the request',
      ({ records }, gate) =>
        around(records.targets, 'noteIntent', async (call) => {
          const step = await call();
          await gate.pass();
          return step;
        }),
    ],
  ])('%s sends nothing afterwards: another process has looked, and done the work', async (_, suspend) => {
    world = await startWorld({ before: quickSyncs, sites: 1, work: false });
    const { caretaker } = world;
    const gate = aGate();
    standStill(caretaker);
    suspend(caretaker, gate);
    const run = await world.fire(aPolicy());
    const working = caretaker.engine.work(50);
    await gate.reached;
    // It is suspended there, and starts nothing else.
    const stopped = working.stop();
    const other = (await world.another({ work: false })).engine.work(50);
    const end = await world.ended(run);
    const before = syncs().length;
    gate.open();
    await Promise.all([stopped, other.stop()]);

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

  test('is not sent again sooner when the clock of Redis goes forward meanwhile', async () => {
    let ahead = 0;
    world = await startWorld({
      before: quickSyncs,
      sites: 1,
      speedUp: 20,
      leaps: false,
      aheadMs: () => ahead,
    });
    world.sandbox.failNext({ operation: 'syncSite' }, 'reset-before');
    around(world.caretaker.link('default').client, 'call', async (call, operation) => {
      try {
        return await call();
      } catch (error) {
        if (operation === 'syncSite') ahead = 600_000;
        throw error;
      }
    });

    const retry = { ...aPolicy().retry, delayMs: 1_000, maxDelayMs: 1_000 };
    await world.ended(await world.fire(aPolicy({ retry })));

    const [first, second] = world.sandbox.journal.requests.filter(
      ({ operation }) => operation === 'syncSite',
    );
    expect((second?.at ?? 0) - (first?.at ?? 0)).toBeGreaterThanOrEqual(40_000);
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

test('a process that lacks the job of a run fails no target, in particular no site whose sync may have begun', async () => {
  // Slow enough that the process stops before it looks for the syncs.
  world = await startWorld({ before: quickSyncs, sites: 3, speedUp: 20, work: false });
  world.sandbox.failNext({ operation: 'syncSite', times: 3 }, 'reset-after');
  const run = await world.fire(aPolicy());
  const first = world.caretaker.engine.work(50);
  await until(world, () => syncs().length === 3);
  await first.stop();
  const parts = partsOf(await world.another({ work: false }));
  const older = createEngine({ ...parts, registry: createRegistry([]) }).work(50);
  // Until it has polled several times.
  await world.clock.sleep(30_000);
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
