import { afterEach, expect, test } from 'vitest';
import { around } from '../../support/between.ts';
import { aPolicy } from '../../support/builders.ts';
import { startWorld, until, type World } from '../../support/caretaker.ts';
import { quickSyncs } from '../../support/quick-syncs.ts';

let world: World;
afterEach(() => world.stop());

/** A site has one attempt only. */
const once = aPolicy({ retry: { ...aPolicy().retry, attempts: 1 } });

/** Starts a world with one site. `around` decides when the request that starts its sync is sent. */
async function syncing(meanwhile: (send: () => Promise<unknown>) => Promise<unknown>, speedUp = 60) {
  world = await startWorld({ before: quickSyncs, sites: 1, work: false, speedUp });
  let isFirst = true;
  around(world.caretaker.link('default').client, 'call', (call, operation) => {
    if (operation !== 'syncSite' || !isFirst) return call();
    isFirst = false;
    return meanwhile(call) as ReturnType<typeof call>;
  });
  const working = world.caretaker.engine.work(50);
  const run = await world.fire(once);
  return { run, working };
}

/** Sends another request on the same account. Returns whether it was answered. */
async function somebodyElse(): Promise<boolean> {
  const { client } = (await world.another({ work: false })).link('default');
  return client.call('listTags', {}, { requestClass: 'person' }).then(
    () => true,
    () => false,
  );
}

test('an outage that begins during a step uses up no attempt, even if other requests were just answered', async () => {
  const { run, working } = await syncing(async (send) => {
    expect(await somebodyElse()).toBe(true);
    world.sandbox.outage.begin('status-503');
    return send();
  });
  // The decision about each of two requests has been written: it rests on what was answered during the outage.
  await until(world, async () => {
    const [target] = await world.targets(run);
    return target?.state === 'waiting' && target.waits >= 2;
  });
  world.sandbox.outage.end();

  await world.ended(run);
  await working.stop();

  expect(await world.targets(run)).toMatchObject([{ reason: 'done', attempts: 0 }]);
});

test('a request sent during an outage uses up no attempt, even if others are answered before it fails', async () => {
  const { run, working } = await syncing(async (send) => {
    world.sandbox.outage.begin('status-503');
    expect(await somebodyElse()).toBe(false);
    // An answer reaches its caller before it reaches the budget.
    const { budget } = world.caretaker.link('default');
    await until(world, async () => (await budget.state()).failingSince !== undefined);
    const sent = send();
    await sent.catch(() => undefined);
    world.sandbox.outage.end();
    expect(await somebodyElse()).toBe(true);
    return sent;
  });

  await world.ended(run);
  await working.stop();

  expect(await world.targets(run)).toMatchObject([{ reason: 'done', attempts: 0 }]);
});

test('a request that gets no response while others are answered uses up an attempt', async () => {
  // In real time, so that also a busy machine answers the check within its time limits.
  const { run, working } = await syncing((send) => {
    world.sandbox.failNext({ operation: 'syncSite' }, 'status-503');
    return send();
  }, 1);
  await until(world, async () => (await world.targets(run))[0]?.state === 'waiting');
  // Until the request can no longer arrive.
  world.clock.leap(60_000);

  await world.ended(run);
  await working.stop();

  expect(await world.targets(run)).toMatchObject([
    {
      outcome: 'failed',
      reason: 'unavailable',
      attempts: 1,
      detail: expect.stringMatching(/^The only attempt failed\./),
    },
  ]);
  expect(world.sandbox.journal.effectsOf('syncSite')).toEqual([]);
});

test('many requests that fail at the same time share one check whether the service is available', async () => {
  world = await startWorld({ before: quickSyncs, sites: 1, work: false, speedUp: 1 });
  const { client } = world.caretaker.link('default');
  const asked: string[] = [];
  const ask = () => client.answers({ onRequest: (operation) => asked.push(operation) });

  expect(await Promise.all([ask(), ask(), ask()])).toEqual([true, true, true]);
  expect(asked).toEqual(['listTags']);
  world.sandbox.account.deactivate();
  expect(await ask()).toBe(true);
  world.sandbox.outage.begin('refuse');
  expect(await ask()).toBe(false);
});
