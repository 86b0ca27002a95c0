/** A Redis that answers but prevents all work: what the daemon reports, and where. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Queue } from 'bullmq';
import { Redis } from 'ioredis';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type Daemon, startDaemon } from '../../src/app/daemon.ts';
import { noteClockJump } from '../../src/records/reported.ts';
import { readFacts } from '../../src/redis/facts.ts';
import { aPolicy } from '../support/builders.ts';
import { startWorld, until, type World } from '../support/caretaker.ts';
import { quickSyncs } from '../support/quick-syncs.ts';

let world: World;
let daemon: Daemon;
let folder: string;
let other: Redis;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'caretaker-policies-'));
  world = await startWorld({ sites: 3, work: false, policiesDir: folder, speedUp: 20, before: quickSyncs });
  daemon = await startDaemon({ caretaker: world.caretaker, roles: ['worker', 'dashboard'] });
  other = new Redis({ ...world.redis.options, maxRetriesPerRequest: null });
  other.on('error', () => undefined);
});
afterEach(async () => {
  other.disconnect();
  await daemon.stop();
  await world.stop();
  rmSync(folder, { recursive: true, force: true });
});

const ready = async () => {
  const answer = await fetch(`${daemon.dashboard?.url}/readyz`);
  return { status: answer.status, text: await answer.text() };
};
const told = (pattern: RegExp) =>
  world.log.lines.filter((line) => !line.startsWith('debug') && pattern.test(line));

test('a queue that another client paused is logged, /readyz is not ready, and work continues after resuming it', async () => {
  const queue = new Queue('actions', { connection: other, prefix: '{caretaker}:queue' });
  await queue.pause();
  const run = await world.fire(aPolicy());

  await until(world, async () => (await ready()).status === 503);
  expect((await ready()).text).toBe(
    'not ready: the queue "actions" is paused, and no entry of it is processed: "caretaker queues resume" resumes it\n',
  );
  expect(told(/the queue "actions" is paused/)).toHaveLength(1);
  expect(world.sandbox.journal.effects).toHaveLength(0);

  expect(await world.caretaker.queues.resume()).toEqual(['actions']);
  expect(await world.ended(run)).toMatchObject({ status: 'succeeded' });
  await until(world, async () => (await ready()).status === 200);
  await queue.close();
});

test('a Redis that is out of memory is logged once and nothing more, and work continues when there is room', async () => {
  await other.config('SET', 'maxmemory', '1mb');
  await until(world, async () => (await ready()).status === 503);
  // Half a minute of the world's time, in which everything that writes is refused.
  await world.clock.sleep(40_000);

  expect((await ready()).text).toContain('Redis is out of memory (maxmemory) and refuses to write');
  expect(told(/out of memory|OOM/)).toHaveLength(1);
  expect(told(/could not|had to wait/)).toEqual([]);

  await other.config('SET', 'maxmemory', '0');
  await until(world, async () => (await ready()).status === 200);
  expect(await world.ended(await world.fire(aPolicy()))).toMatchObject({ status: 'succeeded' });
  expect(told(/Redis works again/)).toHaveLength(1);
});

test('a Redis that may evict records, or whose clock jumped, causes warnings, and the process stays ready', async () => {
  await other.config('SET', 'maxmemory-policy', 'allkeys-lru');
  await noteClockJump(world.caretaker.records.alerts, { at: world.clock.now(), byMs: -600_000 });
  await until(world, () => told(/may evict Caretaker's records/).length > 0);
  await until(world, async () => (await ready()).text.includes('the clock of Redis'));

  const { status, text } = await ready();

  expect(status).toBe(200);
  expect(text).toContain(
    "warning: Redis may evict Caretaker's records when it is full (maxmemory-policy is allkeys-lru: set it to noeviction)",
  );
  expect(text).toContain('warning: the clock of Redis went back in the last hour');
});

test('what Redis reports about itself is on the page System', async () => {
  await other.config('SET', 'maxmemory', '64mb');
  await until(
    world,
    async () => (await readFacts(world.caretaker.redis.store))[0]?.facts.maxBytes === 2 ** 26,
  );
  const [server] = await readFacts(world.caretaker.redis.store);

  expect(server?.facts).toMatchObject({
    version: expect.stringMatching(/^\d+\.\d+\.\d+$/),
    maxBytes: 2 ** 26,
    maxmemoryPolicy: 'noeviction',
    aof: { isOn: true, isWritten: true },
    snapshot: { isWritten: true, at: expect.any(Number), changesSince: expect.any(Number) },
  });
  expect(server?.facts.usedBytes).toBeGreaterThan(100_000);
  expect(server?.facts.latencyMs).toBeGreaterThan(0);
});

test('a user who may no longer do what is needed is logged once, /readyz is not ready, and work continues when it may', async () => {
  await other.call('ACL', 'SETUSER', 'default', '-eval', '-evalsha');

  await until(world, async () => (await ready()).status === 503);
  expect((await ready()).text).toContain(
    'not ready: Redis refuses work: its user may not use the command EVAL',
  );
  expect(told(/Redis refuses work/)).toHaveLength(1);

  await other.call('ACL', 'SETUSER', 'default', '+@all');
  await until(world, async () => (await ready()).status === 200);
  expect(told(/notifications could not be read/).length).toBeLessThan(2);
});
