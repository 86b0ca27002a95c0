/** Only processes that stop and start again while a run is active show that it is continued, with nothing lost. */
import { afterEach, describe, expect, test } from 'vitest';
import { aPolicy } from '../support/builders.ts';
import { startWorld, until, type World } from '../support/caretaker.ts';
import { quickSyncs } from '../support/quick-syncs.ts';

let world: World;
afterEach(() => world.stop());

const limits = { concurrency: 20, maxTargets: 1000, maxPercent: 100 };

describe('after an hour in which no process was running', () => {
  test('syncs that succeeded meanwhile are done, even if their time limit has passed', async () => {
    world = await startWorld({ sites: 10, work: false });
    const ids = world.sandbox.siteIds();
    const fired = await world.fire(aPolicy({ timeout: { targetMs: 300_000, runMs: 28_800_000 } }));
    for (const id of ids) world.sandbox.site(id).syncTakes(3_600_000);
    const before = world.caretaker.engine.work(50);
    const { targets } = world.caretaker.records;
    await until(world, async () => (await targets.inState(fired.id, 'following', 100)).length === 10);
    await before.stop();
    for (const id of ids) world.sandbox.site(id).finishSync();
    world.clock.leap(310_000);
    expect(await targets.late(fired.id, world.clock.now(), 100)).toHaveLength(10);

    const after = world.caretaker.engine.work(50);
    const run = await world.ended(fired);
    await after.stop();

    expect(run).toMatchObject({ status: 'succeeded', counts: { succeeded: 10, failed: 0 } });
  });
});

describe('an API that is unavailable for minutes', () => {
  test('has a run that could not be planned continue at once when an operator releases it', async () => {
    world = await startWorld({ sites: 5, work: false, before: quickSyncs });
    world.sandbox.outage.begin('refuse');
    const before = world.caretaker.engine.work(50);
    const fired = await world.fire(aPolicy());
    const waiting = await world.ended(fired, ({ detail }) => detail !== undefined);
    await before.stop();
    world.sandbox.outage.end();

    await world.caretaker.engine.nudge(fired.id);

    expect(waiting).toMatchObject({
      status: 'planning',
      detail: expect.stringContaining('connection refused'),
    });
    const told = await world.caretaker.records.runs.get(fired.id);
    expect(told?.detail).toBeUndefined();
    const after = world.caretaker.engine.work(50);
    expect(await world.ended(fired)).toMatchObject({ status: 'succeeded', counts: { succeeded: 5 } });
    await after.stop();
  });
});

describe('an account that refuses access', () => {
  async function blocked() {
    world = await startWorld({ sites: 8, work: false, before: quickSyncs });
    const working = world.caretaker.engine.work(50);
    const fired = await world.fire(aPolicy({ limits: { ...limits, concurrency: 2 } }));
    await world.ended(fired, ({ counts }) => counts.succeeded > 0);
    world.sandbox.account.deactivate();
    await world.ended(fired, ({ status }) => status === 'blocked');
    await working.stop();
    return fired;
  }

  test('that is fixed lets a run continue as soon as an operator releases it', async () => {
    const fired = await blocked();
    world.sandbox.account.activate();

    await world.caretaker.engine.nudge(fired.id);

    expect(await world.caretaker.records.runs.get(fired.id)).toMatchObject({ status: 'running' });
  });

  test('keeps no run blocked forever if a process died while it released the runs', async () => {
    const fired = await blocked();
    world.sandbox.account.activate();
    await world.caretaker.records.accounts.unblock('default', world.clock.now());

    const working = world.caretaker.engine.work(50);
    const run = await world.ended(fired);
    await working.stop();

    expect(run.counts).toMatchObject({ planned: 8, failed: 0, cancelled: 0 });
  });

  test('does not prevent a cancelled run from ending, although nothing can be followed any more', async () => {
    const fired = await blocked();
    await world.caretaker.engine.cancel(fired.id);

    const working = world.caretaker.engine.work(50);
    const run = await world.ended(fired);
    await working.stop();

    expect(run.status).toBe('cancelled');
    const { planned, succeeded, cancelled, failed, skipped } = run.counts;
    expect(succeeded + cancelled + failed + skipped).toBe(planned);
    expect(cancelled).toBeGreaterThan(4);
  });
});
