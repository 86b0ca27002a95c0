import { expect, onTestFinished, test } from 'vitest';
import { startDaemon } from '../../src/app/daemon.ts';
import { startReceiver } from '../notify/receiver.ts';
import { until } from '../support/caretaker.ts';
import { worldOfTest } from '../support/world-of-test.ts';

test('a daemon whose worker supervises no account sends no heartbeat, until it does so again', async () => {
  const alive = await startReceiver(204);
  const world = await worldOfTest({ sites: 1, work: false });
  const { caretaker, clock } = world;
  const { store } = caretaker.redis;
  const heartbeat = { url: alive.url, every: 5_000 };
  caretaker.take({ notifications: { alive: { name: 'alive', heartbeat } } });
  const daemon = await startDaemon({ caretaker, roles: ['worker', 'dashboard'] });
  onTestFinished(() => daemon.stop());
  const ready = async () => (await fetch(`${daemon.dashboard?.url}/readyz`)).text();
  await alive.untilReceived(2);

  // Every round of the supervisor fails.
  await store.set('{caretaker}:active-accounts', 'damaged');
  await until(world, async () => (await ready()).startsWith('not ready: the worker is not running'));
  // One that was on its way may still arrive.
  await clock.sleep(30_000);
  const sent = alive.received.length;
  await clock.sleep(60_000);
  expect(alive.received).toHaveLength(sent);

  await store.del('{caretaker}:active-accounts');
  await alive.untilReceived(sent + 1);
});
