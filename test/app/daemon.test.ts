import { expect, onTestFinished, test } from 'vitest';
import { startDaemon } from '../../src/app/daemon.ts';
import { until } from '../support/caretaker.ts';
import { quickSyncs } from '../support/quick-syncs.ts';
import { worldOfTest } from '../support/world-of-test.ts';

test('each daemon shows how it is, and together they note the depth of the queues once a minute', async () => {
  const world = await worldOfTest({ before: quickSyncs, sites: 1, work: false });
  const others = [world.caretaker, await world.another({ work: false })];
  for (const caretaker of others) {
    const daemon = await startDaemon({ caretaker, roles: ['worker'] });
    onTestFinished(() => daemon.stop());
  }
  const { depths, presence } = world.caretaker.records;

  const noted = async () =>
    (await depths.lastHour(world.clock.now())).flatMap(({ depth }) => (depth ? [depth] : []));
  await until(world, async () => (await noted()).length > 0);

  expect((await noted())[0]).toEqual({ actions: 0, plans: 0, deliveries: 0 });
  // Both, at one moment: at sixty times the speed, a busy machine makes a beat late.
  let shown = await presence.running(world.clock.now());
  await until(world, async () => {
    shown = await presence.running(world.clock.now());
    return shown.length === 2;
  });
  for (const { vitals } of shown) {
    expect(vitals).toMatchObject({ node: process.versions.node, version: expect.stringMatching(/^\d/) });
    expect(vitals?.memoryBytes).toBeGreaterThan(vitals?.heapBytes ?? Number.POSITIVE_INFINITY);
    expect(vitals?.lagMs).toBeLessThanOrEqual(vitals?.maxLagMs ?? -1);
  }
});
