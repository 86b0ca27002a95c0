/** The clock of Redis goes ten minutes forward and back: nothing waits until the former time is reached again. */
import { expect, onTestFinished, test } from 'vitest';
import { apiCall } from '../../../jobs/api-call/job.ts';
import { ConflictError } from '../../../src/client/errors.ts';
import { around } from '../../support/between.ts';
import { aPolicy } from '../../support/builders.ts';
import { startWorld, until, type WorldOptions } from '../../support/caretaker.ts';
import { NOON } from '../../support/held-clock.ts';
import { healthySites, quickSyncs } from '../../support/quick-syncs.ts';
import { untilFollowed } from '../person.ts';
import { recorded, recording } from '../record/recording.ts';

const MINUTE = 60_000;

/** A world whose clock, but not that of the service, is ten minutes ahead until `goBack` is called. */
async function aheadWorld(options: WorldOptions) {
  let ahead = 10 * MINUTE;
  const world = await startWorld({ ...options, leaps: false, aheadMs: () => ahead });
  onTestFinished(() => world.stop());
  return {
    world,
    goBack: () => {
      ahead = 0;
    },
  };
}

const enablesLogs = aPolicy({
  job: 'api-call',
  select: { from: 'listSites', filters: {} },
  options: apiCall.options.parse({ operation: 'enableSiteActivityLogs' }),
});

test.each([
  ['a target that waits for another attempt', true],
  ['a target of an account that no process maintained before', false],
])('%s is tried again soon after the clock is back', async (_, isMaintained) => {
  const { world, goBack } = await aheadWorld({ sites: 1 });
  let isBack = false;
  around(world.caretaker.records.accounts, 'supervise', async (supervise) =>
    isMaintained || isBack ? supervise() : false,
  );
  let isFree = false;
  around(world.caretaker.link('default').client, 'call', (call, operation) =>
    operation === 'enableSiteActivityLogs' && !isFree
      ? Promise.reject(new ConflictError(operation, { message: 'A change is under way.' }))
      : call(),
  );
  const run = await world.fire(enablesLogs);
  const { targets } = world.caretaker.records;
  await until(world, async () => (await targets.inState(run.id, 'waiting', 10)).length === 1);
  const { accounts } = world.caretaker.records;
  if (isMaintained) await until(world, async () => (await accounts.supervisedAtOf('default')) !== undefined);

  goBack();
  isBack = true;
  isFree = true;
  await world.ended(run);

  expect((await world.targets(run))[0]).toMatchObject({ outcome: 'succeeded' });
  expect(world.clock.now() - NOON).toBeLessThan(5 * MINUTE);
});

test('work that the service has ended is noticed soon after the clock is back', async () => {
  const { world, goBack } = await aheadWorld({ before: quickSyncs, sites: 3 });
  for (const id of world.sandbox.siteIds()) world.sandbox.site(id).syncTakes(60 * MINUTE);
  const run = await world.fire(aPolicy());
  await untilFollowed(world, run, 3);

  goBack();
  for (const id of world.sandbox.siteIds()) world.sandbox.site(id).finishSync();
  await world.ended(run);

  expect(world.clock.now() - NOON).toBeLessThan(5 * MINUTE);
});

test('a request that was lost while the clock went back is looked for, and sent again, within minutes', async () => {
  const { world, goBack } = await aheadWorld({ before: quickSyncs, sites: 1 });
  let isTakenBack = false;
  around(world.caretaker.records.targets, 'takeBack', async (takeBack) => {
    await takeBack();
    isTakenBack = true;
  });
  world.sandbox.failNext({ operation: 'syncSite' }, 'reset-before');
  around(world.caretaker.link('default').client, 'call', async (call, operation) => {
    try {
      return await call();
    } catch (error) {
      if (operation === 'syncSite') goBack();
      if (operation === 'syncSite') await until(world, () => isTakenBack);
      throw error;
    }
  });

  const end = await world.ended(await world.fire(aPolicy()));

  expect(end).toMatchObject({ counts: { succeeded: 1 } });
  expect(world.sandbox.journal.effectsOf('syncSite')).toHaveLength(1);
  expect(world.clock.now() - NOON).toBeLessThan(5 * MINUTE);
});

test('a sync that began while the clock went back does not seem to have ended before it began', async () => {
  const { world, goBack } = await aheadWorld({ before: quickSyncs, sites: 1 });
  const { accounts, targets } = world.caretaker.records;
  let isTakenBack = false;
  around(targets, 'takeBack', async (takeBack) => {
    await takeBack();
    isTakenBack = true;
  });
  around(world.caretaker.link('default').client, 'call', async (call, operation) => {
    const answer = await call();
    if (operation !== 'syncSite') return answer;
    goBack();
    await until(world, () => isTakenBack);
    return answer;
  });

  await world.ended(await world.fire(aPolicy()));

  expect(world.clock.now() - NOON).toBeLessThan(5 * MINUTE);
  expect((await accounts.usualMs('default', 'sync')) ?? 0).toBeGreaterThanOrEqual(0);
});

test('an account that refused access is asked again soon after the clock is back', async () => {
  const { world, goBack } = await aheadWorld({ before: quickSyncs, sites: 1 });
  world.sandbox.account.deactivate();
  const run = await world.fire(aPolicy());
  await world.ended(run, ({ status }) => status === 'blocked');

  goBack();
  world.sandbox.account.activate();
  await world.ended(run);

  expect(world.clock.now() - NOON).toBeLessThan(5 * MINUTE);
});

test('a gate that could not be asked is asked again soon after the clock is back', async () => {
  const { world, goBack } = await aheadWorld({ before: healthySites, sites: 3 });
  const healthy = 'site.connection.status == "connected"';
  const rule = { batches: [{ count: 1 }], pauseMs: 0, maxFailed: { count: 0 }, waitWhenClosedMs: 0, healthy };
  const { batches } = world.caretaker.records;
  around(batches, 'step', async (step, _run, to) => {
    if (to.rollout?.is === 'pausing') world.sandbox.outage.begin('status-503');
    return step();
  });
  const run = await world.fire(aPolicy({ rollout: rule }));
  await until(world, async () => (await world.caretaker.records.runs.get(run.id))?.detail !== undefined);

  goBack();
  world.sandbox.outage.end();
  await world.ended(run);

  expect(world.clock.now() - NOON).toBeLessThan(5 * MINUTE);
});

test('the pause of a rollout does not last until its former end', async () => {
  const { world, goBack } = await aheadWorld({ before: healthySites, sites: 3 });
  const rule = { batches: [{ count: 1 }], pauseMs: MINUTE, maxFailed: { count: 0 }, waitWhenClosedMs: 0 };
  const run = await world.fire(aPolicy({ rollout: rule }));
  await world.ended(run, ({ rollout }) => rollout?.is === 'pausing');

  goBack();
  await world.ended(run);

  expect(world.clock.now() - NOON).toBeLessThan(5 * MINUTE);
});

test('what a process wrote that noticed later than others that the clock is back does not wait either', async () => {
  const world = await startWorld({ sites: 1, leaps: false, aheadMs: () => 0 });
  onTestFinished(() => world.stop());
  const late = await world.another({ work: false });
  let ahead = 10 * MINUTE;
  late.clock.now = () => world.clock.now() + ahead;
  around(world.caretaker.records.targets, 'claim', async () => undefined);
  let isFree = false;
  around(late.link('default').client, 'call', (call, operation) =>
    operation === 'enableSiteActivityLogs' && !isFree
      ? Promise.reject(new ConflictError(operation, { message: 'A change is under way.' }))
      : call(),
  );
  const run = await world.fire(enablesLogs);
  await world.ended(run, ({ status }) => status === 'running');
  const working = late.engine.work(1);
  const { targets } = world.caretaker.records;
  await until(world, async () => (await targets.inState(run.id, 'waiting', 10)).length === 1);

  ahead = 0;
  isFree = true;
  await world.ended(run);
  await working.stop();

  expect(world.clock.now() - NOON).toBeLessThan(5 * MINUTE);
});

test('what was done is written to the sites soon after the clock is back', async () => {
  const { world, goBack } = await aheadWorld({ before: quickSyncs, sites: 1 });
  const run = await world.fire(recording());
  await world.ended(run);

  goBack();
  await recorded(world, run);

  expect(world.clock.now() - NOON).toBeLessThan(5 * MINUTE);
});

test('what an account refused to take is written to it minutes after the clock is back', async () => {
  const { world, goBack } = await aheadWorld({ before: quickSyncs, sites: 1 });
  const run = await world.fire(recording());
  await world.ended(run);
  world.sandbox.account.deactivate();
  const { outbox } = world.caretaker.records;
  await until(world, async () => (await outbox.state('default')).oldest?.detail !== undefined);

  goBack();
  world.sandbox.account.activate();
  await recorded(world, run);

  // An account that refused is left alone for five minutes.
  expect(world.clock.now() - NOON).toBeLessThan(8 * MINUTE);
});
