import { expect, test, vi } from 'vitest';
import { startReceiver } from './receiver.ts';
import { aWorld } from './world.ts';

test('a heartbeat is sent at its interval while Redis answers, and not while it does not', async () => {
  const alive = await startReceiver(204);
  const world = await aWorld({ alive: { name: 'alive', heartbeat: { url: alive.url, every: 60_000 } } });
  const working = world.notifier.work();
  const untilAsleep = () =>
    vi.waitFor(() => expect(world.clock.sleepers()).toBeGreaterThan(0), { interval: 1, timeout: 5_000 });

  await alive.untilReceived(1);
  for (let second = 1; second <= 59; second += 1) {
    await untilAsleep();
    await world.clock.advance(1_000);
  }
  await untilAsleep();
  expect(alive.received).toHaveLength(1);
  await world.clock.advance(1_000);
  await alive.untilReceived(2);
  await untilAsleep();

  await world.server.kill();
  for (let minute = 0; minute < 3; minute += 1) await world.clock.advance(60_000);
  expect(alive.received).toHaveLength(2);

  await world.server.restart();
  await alive.untilReceived(3);
  await working.stop();
});

test('a heartbeat that is not accepted is logged once, without its address', async () => {
  const alive = await startReceiver(404);
  const world = await aWorld({ alive: { name: 'alive', heartbeat: { url: alive.url, every: 10_000 } } });
  const working = world.notifier.work();
  const warnings = () => world.log.lines.filter((line) => line.startsWith('warn'));

  await vi.waitFor(() => expect(warnings()).toHaveLength(1), { interval: 1, timeout: 5_000 });
  for (let ticks = 0; alive.received.length < 3 && ticks < 1_000; ticks += 1) {
    await vi.waitFor(() => expect(world.clock.sleepers()).toBeGreaterThan(0), {
      interval: 1,
      timeout: 5_000,
    });
    await world.clock.advance(1_000);
  }
  await alive.untilReceived(3);
  await working.stop();

  expect(warnings()).toEqual([expect.stringContaining('the heartbeat "alive" was not accepted')]);
  expect(warnings().join()).not.toContain(alive.url);
});
