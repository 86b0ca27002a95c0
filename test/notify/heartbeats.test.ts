import { MockAgent } from 'undici';
import { expect, test, vi } from 'vitest';
import { openConnections } from '../../src/notify/post.ts';
import { Heartbeats } from '../../src/notify/system-watch.ts';
import { type Receiver, startReceiver } from './receiver.ts';
import { aProcess, aWorld } from './world.ts';

const every = (ms: number, { url }: Receiver) => ({
  alive: { name: 'alive', heartbeat: { url, every: ms } },
});
/** Resolves when every process at work sleeps. */
const asleep = ({ clock }: Pick<Awaited<ReturnType<typeof aWorld>>, 'clock'>, processes = 1) =>
  vi.waitFor(() => expect(clock.sleepers()).toBe(processes), { interval: 1, timeout: 5_000 });

test('a heartbeat is sent at its interval while Redis answers, and not while it does not', async () => {
  const alive = await startReceiver(204);
  const world = await aWorld(every(60_000, alive));
  const working = world.notifier.work();

  await alive.untilReceived(1);
  for (let second = 1; second <= 59; second += 1) {
    await asleep(world);
    await world.clock.advance(1_000);
  }
  await asleep(world);
  expect(alive.received).toHaveLength(1);
  await world.clock.advance(1_000);
  await alive.untilReceived(2);
  await asleep(world);

  await world.server.kill();
  for (let minute = 0; minute < 3; minute += 1) await world.clock.advance(60_000);
  expect(alive.received).toHaveLength(2);

  await world.server.restart();
  await alive.untilReceived(3);
  // BullMQ's own connection may be back later. A worker that is stopped before never ends (ioredis does not report
  // the end of a connection that waits for its next try).
  const clients = () => world.redis.client('LIST');
  await vi.waitFor(async () => expect(await clients()).toContain('cmd=bzpopmin'), { timeout: 5_000 });
  await working.stop();
});

test('a heartbeat that is not accepted is logged once, without its address', async () => {
  const alive = await startReceiver(404);
  const world = await aWorld(every(10_000, alive));
  const working = world.notifier.work();
  const warnings = () => world.log.lines.filter((line) => line.startsWith('warn'));

  await vi.waitFor(() => expect(warnings()).toHaveLength(1), { interval: 1, timeout: 5_000 });
  for (let ticks = 0; alive.received.length < 3 && ticks < 1_000; ticks += 1) {
    await asleep(world);
    await world.clock.advance(1_000);
  }
  await alive.untilReceived(3);
  await working.stop();

  expect(warnings()).toEqual([expect.stringContaining('the heartbeat "alive" was not accepted')]);
  expect(warnings().join()).not.toContain(alive.url);
});

test('of several processes one sends a heartbeat in each interval, and the next one is sent when any of them dies', async () => {
  const alive = await startReceiver(204);
  const world = await aWorld(every(10_000, alive));
  const other = world.another();
  const pass = async (intervals: number, processes: number) => {
    for (let second = 0; second < 10 * intervals; second += 1) {
      await asleep(world, processes);
      await world.clock.advance(1_000);
    }
    await asleep(world, processes);
  };
  let [first, second] = [world.notifier.work(), other.notifier.work()];
  await asleep(world, 2);
  await pass(3, 2);
  await alive.untilReceived(4);
  expect(alive.received).toHaveLength(4);

  await first.stop();
  await pass(2, 1);
  await alive.untilReceived(6);
  first = world.notifier.work();
  await asleep(world, 2);
  await second.stop();
  await pass(2, 1);
  await alive.untilReceived(8);
  second = other.notifier.work();
  await pass(1, 2);
  await alive.untilReceived(9);

  expect(alive.received).toHaveLength(9);
  await Promise.all([first.stop(), second.stop()]);
  await other.queues.close();
});

test('a process that cannot reach the address leaves it to another one that can', async () => {
  const alive = await startReceiver(204);
  const { records, clock, log } = await aWorld({});
  const settings = { notifications: every(10_000, alive) };
  const cut = new MockAgent();
  cut.disableNetConnect();
  const isolated = new Heartbeats({ records, settings, clock, log, dispatcher: cut });
  const healthy = new Heartbeats({ records, settings, clock, log, dispatcher: openConnections(() => true) });
  await isolated.beat();
  await vi.waitFor(() => expect(log.lines.join()).toContain('was not accepted'), { timeout: 5_000 });

  await healthy.beat();
  expect(alive.received).toEqual([]);
  await clock.advance(10_000);
  for (const one of [isolated, healthy]) await one.beat();
  await alive.untilReceived(1);
  await clock.advance(10_000);
  for (const one of [isolated, healthy]) await one.beat();
  await alive.untilReceived(2);
});

test('a clock of Redis that was ahead by a day, and goes back, silences neither heartbeats nor alerts', async () => {
  const alive = await startReceiver(204);
  const { redis, records, queues, clock } = await aWorld({});
  let aheadMs = 86_400_000;
  const jumping = { ...clock, now: () => clock.now() + aheadMs };
  const { notifier, queues: own } = aProcess(redis, every(60_000, alive), jumping);
  const working = notifier.work();
  await alive.untilReceived(1);
  await asleep({ clock });

  aheadMs = 0;
  await queues.pause(['actions']);
  for (let second = 1; second <= 2; second += 1) {
    await clock.advance(1_000);
    await asleep({ clock });
  }
  await vi.waitFor(() => expect(alive.received).toHaveLength(2), { interval: 1, timeout: 5_000 });
  expect(await records.alerts.names('queue ')).toEqual(['queue actions']);

  await working.stop();
  await own.close();
});
