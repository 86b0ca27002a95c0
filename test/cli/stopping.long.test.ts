/** SIGTERM while the daemon works: each test waits for the ten seconds after which a process gives up. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Sandbox, startSandbox } from '../../src/sandbox/sandbox.ts';
import { type Desk, openDesk } from '../support/cli.ts';
import { startTestRedis } from '../support/redis.ts';
import { openRedisProxy } from '../support/redis-proxy.ts';

let sandbox: Sandbox;
let desk: Desk;

beforeAll(async () => {
  sandbox = await startSandbox({ sites: 12, speed: 20, rateLimit: 0, token: 't' });
  desk = openDesk({ CARETAKER_BASE_URL: sandbox.url, CARETAKER_API_TOKEN: 't' });
  desk.write('config/caretaker.yaml', 'dashboard: { port: 0 }\n');
  for (const id of sandbox.siteIds()) sandbox.site(id).lastSynced(30 * 3_600_000);
});
afterAll(async () => {
  await desk.clear();
  await sandbox.stop();
});

test('a daemon whose Redis became unavailable during a run ends about ten seconds after SIGTERM, and logs that', async () => {
  const redis = await startTestRedis();
  const redisProxy = await openRedisProxy(redis.socketPath);
  const daemon = desk.spawn(['daemon'], { REDIS_URL: redisProxy.url });
  await daemon.line(/the daemon is running/);
  await desk.run(['run', 'nightly-sync', '--detach'], { REDIS_URL: redisProxy.url });
  while (sandbox.journal.effects.length === 0) await new Promise(setImmediate);
  await redisProxy.close();
  const asked = performance.now();
  daemon.child.kill('SIGTERM');

  const { code, stderr } = await daemon.ended;

  expect(code).toBe(0);
  expect(performance.now() - asked).toBeLessThan(16_000);
  expect(stderr.trim().split('\n').at(-1)).toContain(
    'stopped without Redis, which does not respond; the next daemon continues the work in progress',
  );
  await redis.stop();
});

test('a daemon whose service does not respond ends about ten seconds after SIGTERM, and the next ends the run', async () => {
  const daemon = desk.spawn(['daemon']);
  await daemon.line(/the daemon is running/);
  sandbox.outage.begin('hang');
  const detached = await desk.run(['run', 'nightly-sync', '--detach']);
  const id = detached.stdout.trim();
  await daemon.line(new RegExp(`a run starts.*${id}|${id}.*a run starts`));
  const asked = performance.now();
  daemon.child.kill('SIGTERM');

  const { code, stderr } = await daemon.ended;

  expect(code).toBe(0);
  expect(performance.now() - asked).toBeLessThan(16_000);
  expect(stderr.trim().split('\n').at(-1)).toContain('stopped');
  sandbox.outage.end();
  const { stdout } = await desk.run(['runs', 'resume', id, '--json']);
  expect(JSON.parse(stdout)).toMatchObject({ run: id, counts: { failed: 0 } });
});
