/** The page System: processes, Redis, queues and versions. */
import { afterEach, expect, test } from 'vitest';
import { heldClock, NOON } from '../support/held-clock.ts';
import { startWorld, type World } from './world.ts';

let world: World;
afterEach(() => world.stop());

const MIB = 1024 ** 2;
const vitals = {
  version: '1.4.0',
  node: '20.19.5',
  memoryBytes: 180 * MIB,
  heapBytes: 60 * MIB,
  lagMs: 12,
  maxLagMs: 340,
};
const process = { id: 'a', pid: 7, host: 'night-shift', roles: ['worker'], startedAt: NOON, seenAt: NOON };

const look = async () => {
  const { html, main } = await world.look('/system');
  return { html: html.replaceAll('\u00a0', ' '), text: main };
};

test('each process is shown with its version, its memory and how late its timers are', async () => {
  world = await startWorld({ clock: heldClock() });
  await world.records.presence.announce({ ...process, vitals });
  await world.records.presence.announce({ ...process, id: 'b', host: 'older-release' });
  const { html, text } = await look();

  expect(text).toContain('night-shift process 7 worker 1.4.0 180 MiB 12 ms');
  expect(text).toContain('older-release process 7 worker not known not known not known');
  expect(html).toContain('9 of 10 timers of the last minute were at most 12 ms late, the latest 340 ms');
});

test('Redis is shown with its version beside the others, its memory, what happens when it is full, its latency and what is on disk', async () => {
  world = await startWorld({ clock: heldClock() });
  expect((await look()).text).toContain('What Redis reports is not known yet.');
  const snapshot = { at: NOON - 3_600_000, isWritten: true, changesSince: 1_234 };
  world.health.servers = [
    {
      version: '7.2.5',
      usedBytes: 300 * MIB,
      maxBytes: 2 * 1024 * MIB,
      maxmemoryPolicy: 'noeviction',
      aof: { isOn: true, isWritten: true },
      snapshot,
      latencyMs: 0.4,
    },
  ];
  const first = (await look()).text;
  expect(first).toMatch(
    /Versions Caretaker 1\.0\.0 Node \d+\.\d+\.\d+ Redis 7\.2\.5 BullMQ \d+\.\d+\.\d+ Records \d+/,
  );
  expect(first).toMatch(
    /Memory 300 MiB of 2\.0 GiB When memory is full writes fail noeviction Latency under 1 ms Append-only file on Last snapshot 1 h ago 1,234 changes since/,
  );

  world.health.servers = [
    {
      maxmemoryPolicy: 'allkeys-lru',
      aof: { isOn: true, isWritten: false },
      snapshot: { ...snapshot, isWritten: false },
      latencyMs: 81,
    },
  ];
  const { html, text } = await look();
  expect(text).toMatch(
    /Memory not known When memory is full keys are evicted allkeys-lru Latency 81 ms Append-only file cannot be written Last snapshot failed/,
  );
  expect(html).toContain('answers in 81 ms');
});

test('the entries of the queues in the last hour are a chart with a table, and gaps are named', async () => {
  world = await startWorld({ clock: heldClock() });
  const { depths } = world.records;
  await depths.note(NOON - 120_000, async () => ({ actions: 40, plans: 1, deliveries: 0 }));
  await depths.note(NOON - 60_000, async () => ({ actions: 20, plans: 0, deliveries: 2 }));
  const { html, text } = await look();

  expect(text).toContain('58 minutes of the last hour were not measured');
  expect(html).toContain('11:58Z: 40 actions, 1 plans');
  expect(text).toMatch(/11:58 UTC 40 1 0 .*11:59 UTC 20 0 2/);
});

test('a paused queue is a notice on every page, and the page System names its state', async () => {
  world = await startWorld({ clock: heldClock() });
  world.health.troubles = [
    { stops: true, message: 'the queue "actions" was paused by another BullMQ client', queue: 'actions' },
  ];
  expect((await world.look('/runs')).text).toContain(
    'The queue &quot;actions&quot; was paused by another BullMQ client. Details',
  );
  const { text } = await look();
  expect(text).toMatch(/actions paused 0 0/);
  expect(text).toMatch(/plans active 0 0/);
});
