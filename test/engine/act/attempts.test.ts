import { afterEach, expect, test } from 'vitest';
import { around } from '../../support/between.ts';
import { aPolicy } from '../../support/builders.ts';
import { startWorld, type World } from '../../support/caretaker.ts';

let world: World;
afterEach(() => world.stop());

/** One attempt is all that a site has. */
const once = aPolicy({ retry: { ...aPolicy().retry, attempts: 1 } });

/** A world of one site, in which `around` decides when the request that starts its sync is sent. */
async function syncing(meanwhile: (send: () => Promise<unknown>) => Promise<unknown>) {
  world = await startWorld({ sites: 1, work: false });
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

/** Somebody else asks on the same account; whether there is an answer. */
async function somebodyElse(): Promise<boolean> {
  const { client } = (await world.another({ work: false })).link('default');
  return client.call('listTags', {}, { requestClass: 'person' }).then(
    () => true,
    () => false,
  );
}

test('an outage that begins in the middle of a step uses up no attempt, though others were just answered', async () => {
  const { run, working } = await syncing(async (send) => {
    expect(await somebodyElse()).toBe(true);
    world.sandbox.outage.begin('status-503');
    return send();
  });
  await world.ended(run, () => world.sandbox.journal.countOf('syncSite') > 0);
  await world.clock.sleep(20_000);
  world.sandbox.outage.end();

  await world.ended(run);
  await working.stop();

  expect(await world.targets(run)).toMatchObject([{ reason: 'done', attempts: 0 }]);
});

test('an outage uses up no attempt of a request sent in it, though others are answered before that one fails', async () => {
  const { run, working } = await syncing(async (send) => {
    world.sandbox.outage.begin('status-503');
    expect(await somebodyElse()).toBe(false);
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

test('a request that alone gets no answer, while the service has one for others, uses up an attempt', async () => {
  const { run, working } = await syncing((send) => {
    world.sandbox.failNext({ operation: 'syncSite' }, 'status-503');
    return send();
  });

  await world.ended(run);
  await working.stop();

  expect(await world.targets(run)).toMatchObject([{ outcome: 'failed', reason: 'unavailable', attempts: 1 }]);
  expect(world.sandbox.journal.effectsOf('syncSite')).toEqual([]);
});

test('many that fail at once ask together whether the service is there', async () => {
  world = await startWorld({ sites: 1, work: false });
  const { client } = world.caretaker.link('default');
  const asked: string[] = [];
  const ask = () => client.answers((operation) => asked.push(operation));

  expect(await Promise.all([ask(), ask(), ask()])).toEqual([true, true, true]);
  expect(asked).toEqual(['listTags']);
  world.sandbox.account.deactivate();
  expect(await ask()).toBe(true);
  world.sandbox.outage.begin('refuse');
  expect(await ask()).toBe(false);
});
